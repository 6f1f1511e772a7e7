/** A conversation, as the readers have it. */
export interface Transcript {
  readonly model: string | undefined
  readonly answers: readonly {
    readonly calls: readonly {
      readonly name: string
      readonly arguments: string
      readonly result: string | undefined
      readonly isError?: true
    }[]
  }[]
  readonly inputs: readonly (readonly {
    readonly kind: 'user' | 'instruction'
    readonly content: readonly { readonly text: string }[]
  }[])[]
  readonly notes?: readonly string[]
}
