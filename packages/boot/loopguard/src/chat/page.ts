import { LogFault } from '../logs/store.ts'
import type { PageWriter } from './chat.ts'

/** Says how to draw the session. */
export const pageOf: PageWriter = async ({ session }) => {
  if (session.location === undefined) throw new LogFault('this session is kept in memory alone, and a page is drawn of a log')
  return `loopguard report ${session.location}`
}
