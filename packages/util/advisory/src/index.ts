export { advise, type Advice, type ReviewedCall } from './advise.ts'
export { outcomeOf } from './outcome.ts'
export { strictSchema } from './strict-schema.ts'
export { watchSteps } from './steps.ts'
