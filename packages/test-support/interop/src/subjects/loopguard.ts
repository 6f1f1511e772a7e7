import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'

import { deadline } from '@loopguard/timeout'
import * as timeoutPolicy from '@loopguard/timeout-policy'

import type { Subject } from '../subject.ts'

export const loopguard: Subject = {
  title: 'Loopguard',
  timeoutPolicy,
  repeatToolReminder,
  companions: [],
  deadline,
  differs: {},
}
