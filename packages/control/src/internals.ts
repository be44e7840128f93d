/** What the repository's other packages and tests need of this one. It makes no promise to others. */
export { ownMark, ownMetadata } from './reconcile/ownership.js';
