/** Why a registration was refused; nothing was reserved. */
export type RegistrationErrorCode = 'INVARIANT_BAD_NAME' | 'INVARIANT_BAD_INSTALLER' | 'INVARIANT_NAME_TAKEN' | 'INVARIANT_REGISTRY_GONE'

/** A refused registration. Callers branch on `code`. */
export class RegistrationError extends Error {
  static {
    Object.defineProperty(RegistrationError.prototype, 'name', { value: 'RegistrationError', writable: true, configurable: true })
  }

  readonly code: RegistrationErrorCode

  constructor(code: RegistrationErrorCode, message: string) {
    super(`invariants: ${message}`)
    this.code = code
  }
}
