/** The kinds of providers that are known by name. */
export type KindName = 'openai-compatible' | 'openai' | 'openai-chat' | 'anthropic' | 'deepseek' | 'google'
