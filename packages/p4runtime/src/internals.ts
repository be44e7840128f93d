/** What the repository's other packages and tests need of this one. It makes no promise to others. */
export { StatusSchema } from './generated/google/rpc/status_pb.js';
