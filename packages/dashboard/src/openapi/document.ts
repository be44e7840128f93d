import { MOST_DURATION_MS } from '../annotations/annotations.js';
import { FLOW_SORTS } from '../answers/flows.js';
import {
  INCIDENT_STATES,
  MOST_BY,
  MOST_ENTRIES,
  MOST_ID,
  MOST_PAGE,
  MOST_REASON,
  PROPOSAL_FILTERS,
} from '../control/routes.js';
import { INTENT_KINDS, ORDERS } from '../protocol/control-words.js';
import { BUCKET_MS, SERIES_METRICS } from '../protocol/entities.js';
import { LAST_MS, type Route } from '../server/routes.js';
import { maybe, object, ref, type Schema, text } from './schema.js';
import { SCHEMAS } from './schemas.js';

interface Operation {
  readonly summary: string;
  /** Name of the schema of the answer. */
  readonly answer: string;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
}

const time: Schema = { type: 'number', minimum: 0, maximum: LAST_MS };
const rows = (most: number): Schema => ({ type: 'integer', minimum: 1, maximum: most });
/** `from` is before `to`. */
const range = { from: time, to: time };
const filter = { filter: { ...text, maxLength: 1000 }, limit: rows(1000) };
const entity = { ...text, pattern: '^(all|(switch|queue|link):.+)$' };
const speed = { type: 'number', minimum: 0.1, maximum: 100 };
const yaml = object({ yaml: text });

const id = { ...text, minLength: 1, maxLength: MOST_ID };
/** The rows of a list that are next to one, older or newer, and those of a time. */
const beside = (row: Schema): Record<string, Schema> => ({ before: row, after: row, at: time });
const line = (most: number): Schema => ({ ...text, minLength: 1, maxLength: most });

/** Operations by method and path, as the routes name them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /api/v1/status': { summary: 'What runs, and how well the dashboard keeps up', answer: 'Status' },
  'GET /api/v1/topology': { summary: 'Switches, links and loads', answer: 'TopologyAnswer', query: { at: time } },
  'GET /api/v1/series': {
    summary: 'A metric of entities over time',
    answer: 'SeriesAnswer',
    query: {
      metric: { enum: SERIES_METRICS },
      entity: { type: 'array', items: entity, maxItems: 64 },
      ...range,
      step: { ...time, minimum: BUCKET_MS },
    },
  },
  'GET /api/v1/worst': {
    summary: 'The switches, queues or links with the largest values of ten seconds',
    answer: 'WorstAnswer',
    query: { metric: { enum: SERIES_METRICS }, kind: { enum: ['switch', 'queue', 'link'] }, limit: rows(64), at: time },
  },
  'GET /api/v1/flows': {
    summary: 'Flows with their newest hops',
    answer: 'FlowsAnswer',
    query: { ...filter, sort: { enum: ['', ...FLOW_SORTS, ...FLOW_SORTS.map((each) => `-${each}`)] }, at: time },
  },
  'GET /api/v1/events': {
    summary: 'Events, newest first',
    answer: 'EventsAnswer',
    query: { ...range, ...filter, before: text },
  },
  'GET /api/v1/events/:id': { summary: 'The biography of the packet of an event', answer: 'Biography' },
  'GET /api/v1/reports': { summary: 'Reports of the sample', answer: 'ReportsAnswer', query: { ...range, ...filter } },
  'GET /api/v1/reports/:id': { summary: 'A report', answer: 'ReportRecord' },
  'GET /api/v1/reports/:id/biography': { summary: 'The biography of a packet', answer: 'Biography' },
  'GET /api/v1/rules': { summary: 'The rules in force', answer: 'RulesAnswer' },
  'PUT /api/v1/rules': {
    summary: 'Puts rules into force',
    answer: 'AppliedAnswer',
    body: object({ yaml: text, revision: text, 'save?': { type: 'boolean' } }),
  },
  'POST /api/v1/rules/check': { summary: 'Problems of rules', answer: 'CheckAnswer', body: yaml },
  'POST /api/v1/rules/dry-run': {
    summary: 'Rules over what is retained',
    answer: 'DryRunAnswer',
    body: object({ yaml: text, 'seconds?': { type: 'number', exclusiveMinimum: 0, maximum: 86_400 } }),
  },
  'POST /api/v1/rules/tables': { summary: 'Rules as commands for P4 switches', answer: 'TablesAnswer', body: yaml },
  'POST /api/v1/query': {
    summary: 'SQL over the history',
    answer: 'QueryAnswer',
    body: object({ sql: text, 'limit?': rows(10_000) }),
  },
  'GET /api/v1/queries': { summary: 'Saved queries', answer: 'SavedQueriesAnswer' },
  'PUT /api/v1/queries/:name': { summary: 'Saves a query', answer: 'SavedQueriesAnswer', body: object({ sql: text }) },
  'DELETE /api/v1/queries/:name': { summary: 'Removes a saved query', answer: 'SavedQueriesAnswer' },
  'GET /api/v1/annotations': { summary: 'Notes of what happened', answer: 'AnnotationsAnswer', query: range },
  'POST /api/v1/annotations': {
    summary: 'Notes what happened',
    answer: 'Annotation',
    body: object({
      text,
      'timeMs?': time,
      'durationMs?': { ...time, maximum: MOST_DURATION_MS },
      'entity?': maybe(entity),
    }),
  },
  'GET /api/v1/replays': { summary: 'Replays under way', answer: 'ReplaysAnswer' },
  'GET /api/v1/captures': { summary: 'Capture files that can be replayed', answer: 'CapturesAnswer' },
  'POST /api/v1/replays': {
    summary: 'Begins a replay of a range that is retained or in the history, or of a capture',
    answer: 'ReplayAnswer',
    body: object({ 'from?': time, 'to?': time, 'capture?': text, 'speed?': speed }),
  },
  'PUT /api/v1/replays/:id': {
    summary: 'Changes its speed',
    answer: 'ReplayAnswer',
    body: object({ speed: { anyOf: [{ const: 0 }, speed] } }),
  },
  'GET /api/v1/control': { summary: 'The state of the controller and of its switches', answer: 'ControlAnswer' },
  'GET /api/v1/control/incidents': {
    summary: 'What detectors have found, newest first',
    answer: 'IncidentsAnswer',
    query: { state: { enum: INCIDENT_STATES }, kind: id, entity: id, limit: rows(MOST_PAGE.incidents), ...beside(id) },
  },
  'GET /api/v1/control/incidents/:id': { summary: 'An incident', answer: 'IncidentRow' },
  'GET /api/v1/control/hosts': {
    summary: 'Hosts with their security levels and phases of attacks seen at them, the highest score first',
    answer: 'HostsAnswer',
    query: { limit: rows(MOST_PAGE.hosts) },
  },
  'GET /api/v1/control/proposals': {
    summary: 'What the controller wants or wanted, newest first',
    answer: 'ProposalsAnswer',
    query: {
      state: { enum: PROPOSAL_FILTERS },
      kind: { enum: INTENT_KINDS },
      limit: rows(MOST_PAGE.proposals),
      ...beside(id),
    },
  },
  'GET /api/v1/control/proposals/:id': {
    summary: 'A proposal, its rehearsal, what it changes on each switch, and its effect',
    answer: 'ProposalAnswer',
  },
  'GET /api/v1/control/journal': {
    summary: 'What the controller did and why, newest first',
    answer: 'JournalAnswer',
    query: {
      what: id,
      proposal: id,
      switch: { type: 'integer', minimum: 0, maximum: 0xffff_ffff },
      limit: rows(MOST_PAGE.journal),
      ...beside({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    },
  },
  'POST /api/v1/control/orders': {
    summary:
      'Approves, rejects or undoes a proposal; undoes changes by their entries, or makes them again; stops the controller, takes back all it did, or lets it go on',
    answer: 'OrderAnswer',
    body: object({
      order: { enum: ORDERS },
      'proposal?': line(MOST_ID),
      'entries?': { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1, maxItems: MOST_ENTRIES },
      'by?': line(MOST_BY),
      'reason?': line(MOST_REASON),
    }),
  },
  'DELETE /api/v1/replays/:id': { summary: 'Ends a replay', answer: 'ReplaysAnswer' },
};

/** Answers `GET /api/v1/openapi.json`: the requests that these routes answer. OpenAPI 3.1. */
export function openApiRoute(routes: readonly Route[], version: string): Route {
  const document = {
    openapi: '3.1.0',
    info: { title: 'INT dashboard', version },
    components: {
      schemas: SCHEMAS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { token: [] }],
    paths: pathsOf(routes),
  };
  return { method: 'GET', path: '/api/v1/openapi.json', handle: () => document };
}

function pathsOf(routes: readonly Route[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path } of routes) {
    const operation = OPERATIONS[`${method} ${path}`];
    if (operation === undefined) throw new Error(`${method} ${path} is not described`);
    const name = path.replace(/:(\w+)/g, '{$1}');
    paths[name] = { ...paths[name], [method.toLowerCase()]: described(operation, path) };
  }
  return paths;
}

function described({ summary, answer, query = {}, body }: Operation, path: string): Record<string, unknown> {
  const json = (schema: Schema): unknown => ({ content: { 'application/json': { schema } } });
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema }));
  return {
    summary,
    parameters: [...inPath, ...inQuery, { name: 'replay', in: 'query', schema: text }],
    ...(body !== undefined && { requestBody: { required: true, ...(json(body) as object) } }),
    responses: {
      200: { description: answer, ...(json(ref(answer)) as object) },
      default: { description: 'Refused', ...(json(ref('ErrorAnswer')) as object) },
    },
  };
}
