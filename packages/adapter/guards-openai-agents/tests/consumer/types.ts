import { repeatToolReminder, timeLimited } from '@loopguard/guards-openai-agents'

class Model {
  getResponse(_request: { input: string }): string {
    return 'same'
  }
  getStreamedResponse(_request: { input: string }): string[] {
    return ['same']
  }
}

export const model: Model = repeatToolReminder({ thresholds: [3], exclude: ['todo_*'] })(new Model())
export const execute: (input: object, context: unknown) => Promise<number | string> = timeLimited(() => 1, 5)

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
repeatToolReminder({ thresholds: ['3'] })
// @ts-expect-error -- milliseconds are a number
timeLimited(() => 1, '5')
