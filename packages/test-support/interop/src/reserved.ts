/** As much of a service `invariants` as the suite asks for. */
interface Registrar {
  register(packageName: string, installer: () => void): (() => unknown) | PromiseLike<() => unknown>
}

/** Whether the name is taken: a free one is taken and given back at once. */
export async function isReserved(registrar: Registrar, packageName: string): Promise<boolean> {
  try {
    const release = await registrar.register(packageName, () => undefined)
    await release()
    return false
  } catch (error) {
    if (error instanceof Error && error.message.includes('already registered')) return true
    throw error
  }
}
