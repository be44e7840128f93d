/** Thrown to abort work on a partition that this process no longer owns. */
export class Revoked extends Error {
  override readonly name = 'Revoked';
}
