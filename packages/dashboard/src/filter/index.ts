export { FilterError } from './errors.js';
export { FILTER_FIELDS } from './fields.js';
export { Filter } from './filter.js';
export type { FilterNetwork, SubjectKind } from './subject.js';
