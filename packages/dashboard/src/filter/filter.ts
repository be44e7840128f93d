import type { ReportRecord } from '@int/collector';
import type { IncidentRow } from '../protocol/control.js';
import type { EventRow, FlowRow } from '../protocol/http.js';
import type { Condition } from './condition.js';
import type { FieldInfo } from './fields.js';
import { parseFilter } from './parse.js';
import {
  eventSubject,
  type FilterNetwork,
  flowSubject,
  incidentSubject,
  reportSubject,
  type SubjectKind,
} from './subject.js';

/** What conditions on a kind of row decide nothing: fields by their keys. */
const NOT_ASKED: Readonly<Record<SubjectKind, (field: FieldInfo) => boolean>> = {
  flow: ({ kind, key }) => kind === 'text' || ['value', 'threshold', 'dropped'].includes(key),
  event: ({ key }) => ['dscp', 'reports', 'rate', 'events', 'incident'].includes(key),
  report: ({ kind, key }) =>
    kind === 'text' || ['dscp', 'reports', 'rate', 'events', 'value', 'threshold'].includes(key),
  incident: ({ kind, key }) =>
    ['hop', 'number', 'seconds', 'state'].includes(kind) || ['rule', 'metric', 'severity'].includes(key),
};

/**
 * A condition on flows, events, reports and incidents, as people write it: `switch=leaf-1 and dst in 10.0.0.0/8 and latency>500us`.
 *
 * One filter serves all kinds of rows. A condition that a kind of row cannot answer, such as `rule=...` of a flow, decides
 * nothing there: {@link ignored} names it. The README has the language.
 *
 * @example
 * const filter = new Filter('switch=leaf-1 and latency>500us');
 * const slow = rows.filter((row) => filter.passesFlow(row, network));
 */
export class Filter {
  readonly text: string;
  readonly #condition: Condition | null;
  readonly #fields: readonly FieldInfo[];

  /** @throws FilterError with the place of the first mistake */
  constructor(text: string) {
    this.text = text;
    const { condition, fields } = parseFilter(text);
    this.#condition = condition;
    this.#fields = fields;
  }

  /** Whether everything passes, because nothing is asked. */
  get isEmpty(): boolean {
    return this.#condition === null;
  }

  passesFlow(row: FlowRow, network: FilterNetwork): boolean {
    return this.#condition === null || this.#condition(flowSubject(row, network)) !== false;
  }

  passesReport(record: ReportRecord, network: FilterNetwork): boolean {
    return this.#condition === null || this.#condition(reportSubject(record, network)) !== false;
  }

  /** @param report the report that caused it; without it, conditions on hops decide nothing */
  passesEvent(row: EventRow, network: FilterNetwork, report?: ReportRecord): boolean {
    return this.#condition === null || this.#condition(eventSubject(row, network, report)) !== false;
  }

  /** Of an incident, the ends of a flow are the hosts that it names. */
  passesIncident(row: IncidentRow, network: FilterNetwork): boolean {
    return this.#condition === null || this.#condition(incidentSubject(row, network)) !== false;
  }

  /** Names of the fields that decide nothing on a kind of row. */
  ignored(kind: SubjectKind): readonly string[] {
    return [...new Set(this.#fields.filter(NOT_ASKED[kind]).map(({ name }) => name))];
  }
}
