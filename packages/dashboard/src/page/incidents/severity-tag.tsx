import type { IncidentRow } from '../../client/index.js';
import { SEVERITY_TEXT, severityOf } from './severity.js';

const CLASSES = { critical: 'tag bad', warning: 'tag warn', info: 'tag' } as const;

export function SeverityTag({ row }: { readonly row: IncidentRow }) {
  const severity = severityOf(row);
  return (
    <span class={CLASSES[severity]} title={SEVERITY_TEXT}>
      {severity}
    </span>
  );
}
