export { FilterError } from './errors.js';
export { Filter } from './filter.js';
export type { FilterNetwork, SubjectKind } from './subject.js';
