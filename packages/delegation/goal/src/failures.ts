import { HarnessError } from '@loopguard/kit'
import type { Goal } from './types.ts'

export const badGoal = (why: string): HarnessError => new HarnessError(why, 'BAD_GOAL')

export const goalExists = ({ id, phase }: Goal): HarnessError =>
  new HarnessError(`${id} is ${phase}: update it to complete or blocked before you create another one`, 'GOAL_EXISTS')

export const roundLimit = (limit: number): HarnessError =>
  new HarnessError(`limit reached: ${limit} rounds (goal.maxRounds); ask the user how to go on`, 'GOAL_ROUND_LIMIT')
