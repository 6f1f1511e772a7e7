/**
 * A model server for tests: scripted, on the loopback interface, without a key.
 * @packageDocumentation
 */

export { answers, framesOf, says, streams, type Piece, type SendOptions, type ServerAnswer } from './answer.ts'
export { frame, type Dialect, type ServedCall, type ServedReply, type ServedUsage } from './reply.ts'
export { startModelServer, type ModelServer, type ServedRequest, type ServerEntry } from './server.ts'
