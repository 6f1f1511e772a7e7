import * as repeatToolReminder from '@deepseek-ai/dsh-repeat-tool-reminder'
import * as repeatToolReminderInvariant from '@deepseek-ai/dsh-repeat-tool-reminder/invariant'
import { deadline } from '@deepseek-ai/dsh-timeout'
import * as timeoutPolicy from '@deepseek-ai/dsh-tool-call-timeout-policy'
import * as timeoutPolicyInvariant from '@deepseek-ai/dsh-tool-call-timeout-policy/invariant'
import type { Subject } from '../subject.ts'

export const published: Subject = {
  title: 'published guards',
  timeoutPolicy,
  repeatToolReminder,
  companions: [
    { packageName: '@deepseek-ai/dsh-tool-call-timeout-policy', plugin: timeoutPolicyInvariant },
    { packageName: '@deepseek-ai/dsh-repeat-tool-reminder', plugin: repeatToolReminderInvariant },
  ],
  deadline,
  differs: {
    'own-proto': 'an own `__proto__` key is lost: the three calls count as one',
    deep: 'the recursion overflows, and the successful call becomes an error',
    source: 'the source also carries a form and a summary',
    'preview-unicode': 'the preview is cut by UTF-16 unit, which leaves half a character',
    'tool-name': 'the name is shown as it is, at any length',
    'not-delegating': 'it stands where it was loaded, so an earlier listener can hide it',
    nested: 'nested calls count, so that the outer call never repeats',
    concluded: 'it reminds on such a result too',
    'inner-throws': 'what the wrapper throws is the result',
    'outer-deadline': 'the call says that it timed out after its own, longer, budget',
    'over-maximum': 'every call of such a tool fails',
    'bad-config': 'unknown keys, nulls and blank patterns are taken',
    'signal-mutant': 'its companion checks nothing',
    'early-mutant': 'its companion checks nothing',
    'reminder-mutant': 'its companion checks nothing',
    'missing-mutant': 'its companion checks nothing',
  },
}
