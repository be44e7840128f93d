import type {
  ControlAnswer,
  HostsAnswer,
  IncidentRow,
  IncidentsAnswer,
  JournalAnswer,
  OrderAnswer,
  ProposalAnswer,
  ProposalsAnswer,
} from '../protocol/control.js';
import { INTENT_KINDS, ORDERS, PROPOSAL_STATES } from '../protocol/control-words.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, limitOf, numberOf, type Route, type Services, viewOf } from '../server/routes.js';
import { liveControlOf } from './live-control.js';
import type {
  HostsQuestion,
  IncidentsQuestion,
  JournalQuestion,
  OrderQuestion,
  PageQuestion,
  ProposalsQuestion,
} from './questions.js';

/** Characters of an order's name and reason, and of an id. */
export const MOST_BY = 64;
export const MOST_REASON = 500;
export const MOST_ID = 400;
/** Entries of one order. */
export const MOST_ENTRIES = 1000;
/** Rows of a page. */
export const MOST_PAGE = { incidents: 500, hosts: 1000, proposals: 500, journal: 500 } as const;
export const INCIDENT_STATES = ['open', 'close'] as const;
export const PROPOSAL_FILTERS = ['live', 'ended', ...PROPOSAL_STATES] as const;
const USUAL_PAGE = 100;
const SAFE = Number.MAX_SAFE_INTEGER;

/** What can be asked of a controller, and told to it. */
export function controlRoutes(): readonly Route[] {
  return [
    { method: 'GET', path: '/api/v1/control', handle: state },
    { method: 'GET', path: '/api/v1/control/incidents', handle: incidents },
    { method: 'GET', path: '/api/v1/control/incidents/:id', handle: incident },
    { method: 'GET', path: '/api/v1/control/hosts', handle: hosts },
    { method: 'GET', path: '/api/v1/control/proposals', handle: proposals },
    { method: 'GET', path: '/api/v1/control/proposals/:id', handle: proposal },
    { method: 'GET', path: '/api/v1/control/journal', handle: journal },
    { method: 'POST', path: '/api/v1/control/orders', changes: true, handle: order },
  ];
}

async function ask<Answer>(asked: Asked, services: Services, what: string, question: unknown): Promise<Answer> {
  liveControlOf(viewOf(asked, services), services);
  return (await services.ask(what, question)) as Answer;
}

const state = (asked: Asked, services: Services): ControlAnswer => liveControlOf(viewOf(asked, services), services);

function incidents(asked: Asked, services: Services): Promise<IncidentsAnswer> {
  const { query } = asked;
  return ask(asked, services, 'control.incidents', {
    state: wordOf(query, 'state', INCIDENT_STATES),
    kind: textOf(query, 'kind'),
    entity: textOf(query, 'entity'),
    ...besideOf(query, textOf),
    limit: limitOf(query, MOST_PAGE.incidents, USUAL_PAGE),
  } satisfies IncidentsQuestion);
}

const incident = (asked: Asked, services: Services): Promise<IncidentRow> =>
  ask(asked, services, 'control.incident', idOf(asked, 'incident'));

function hosts(asked: Asked, services: Services): Promise<HostsAnswer> {
  const limit = limitOf(asked.query, MOST_PAGE.hosts, USUAL_PAGE);
  return ask(asked, services, 'control.hosts', { limit } satisfies HostsQuestion);
}

function proposals(asked: Asked, services: Services): Promise<ProposalsAnswer> {
  const { query } = asked;
  return ask(asked, services, 'control.proposals', {
    state: wordOf(query, 'state', PROPOSAL_FILTERS),
    kind: wordOf(query, 'kind', INTENT_KINDS),
    ...besideOf(query, textOf),
    limit: limitOf(query, MOST_PAGE.proposals, USUAL_PAGE),
  } satisfies ProposalsQuestion);
}

const proposal = (asked: Asked, services: Services): Promise<ProposalAnswer> =>
  ask(asked, services, 'control.proposal', idOf(asked, 'proposal'));

function journal(asked: Asked, services: Services): Promise<JournalAnswer> {
  const { query } = asked;
  return ask(asked, services, 'control.journal', {
    what: textOf(query, 'what'),
    proposal: textOf(query, 'proposal'),
    switchId: numberOf(query, 'switch', { most: 0xffff_ffff, isWhole: true }) ?? null,
    ...besideOf(query, (given, name) => numberOf(given, name, { most: SAFE, isWhole: true }) ?? null),
    limit: limitOf(query, MOST_PAGE.journal, USUAL_PAGE),
  } satisfies JournalQuestion);
}

async function order(asked: Asked, services: Services): Promise<OrderAnswer> {
  const question = orderOf(asked.body);
  return ask(asked, services, 'control.order', question);
}

/** @throws ApiError `ERR_BODY` */
function orderOf(body: unknown): OrderQuestion {
  if (typeof body !== 'object' || body === null) {
    throw new ApiError(400, 'ERR_BODY', 'the body must be an object with order, and with proposal where it is of one');
  }
  const given = body as Readonly<Record<string, unknown>>;
  const word = ORDERS.find((each) => each === given.order);
  if (word === undefined) throw new ApiError(400, 'ERR_BODY', `order must be one of ${ORDERS.join(', ')}`);
  const name = memberOf(given, 'by', MOST_BY);
  const by = name === null ? 'dashboard' : `dashboard: ${name}`;
  const reason = memberOf(given, 'reason', MOST_REASON);
  const terms = { by, ...(reason !== null && { reason }) };
  const id = memberOf(given, 'proposal', MOST_ID);
  const entries = entriesOf(given);
  if (entries !== null) {
    if (word !== 'undo' && word !== 'redo') throw new ApiError(400, 'ERR_BODY', `${word} is of no entries`);
    if (id !== null) throw new ApiError(400, 'ERR_BODY', 'proposal and entries do not go together');
    return { order: word, entries, ...terms };
  }
  if (word === 'redo') throw new ApiError(400, 'ERR_BODY', 'redo needs entries, numbers of the journal');
  if (word === 'approve' || word === 'reject' || word === 'undo') {
    if (id === null) throw new ApiError(400, 'ERR_BODY', `${word} needs proposal, the id of one`);
    return { order: word, proposal: id, ...terms };
  }
  if (id !== null) throw new ApiError(400, 'ERR_BODY', `${word} is of no proposal`);
  return { order: word, ...terms };
}

/** @throws ApiError */
function entriesOf({ entries }: Readonly<Record<string, unknown>>): readonly number[] | null {
  if (entries === undefined) return null;
  const isWhole = (each: unknown): each is number => Number.isSafeInteger(each) && (each as number) >= 1;
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > MOST_ENTRIES || !entries.every(isWhole)) {
    throw new ApiError(400, 'ERR_BODY', `entries must be 1 to ${MOST_ENTRIES} whole numbers from 1`);
  }
  return entries;
}

/** A text of the body without control characters; `null`: it is not there. @throws ApiError */
function memberOf(body: Readonly<Record<string, unknown>>, name: string, most: number): string | null {
  const value = body[name];
  if (value === undefined) return null;
  // What is written into journals and onto terminals is one line.
  if (typeof value !== 'string' || value.trim() === '' || value.length > most || /\p{C}/u.test(value)) {
    throw new ApiError(400, 'ERR_BODY', `${name} must be a text of 1 to ${most} characters on one line`);
  }
  return value.trim();
}

function idOf({ params }: Asked, what: string): string {
  const id = params.id!;
  if (id.length > MOST_ID) throw new ApiError(404, 'ERR_NOT_FOUND', `no ${what} has such a long id`);
  return id;
}

/** Beside which row the page is, and at what time. @throws ApiError */
function besideOf<Id extends string | number>(
  query: URLSearchParams,
  idOf: (query: URLSearchParams, name: string) => Id | null,
): Pick<PageQuestion<Id>, 'before' | 'after' | 'at'> {
  const [before, after] = [idOf(query, 'before'), idOf(query, 'after')];
  if (before !== null && after !== null) {
    throw new ApiError(400, 'ERR_PARAMETER', 'before and after do not go together');
  }
  return { before, after, at: numberOf(query, 'at') ?? null };
}

/** @throws ApiError */
function textOf(query: URLSearchParams, name: string): string | null {
  const value = query.get(name);
  if (value !== null && (value === '' || value.length > MOST_ID)) {
    throw new ApiError(400, 'ERR_PARAMETER', `${name} must be a text of 1 to ${MOST_ID} characters`);
  }
  return value;
}

/** @throws ApiError */
function wordOf<Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]): Word | null {
  const value = query.get(name);
  if (value === null) return null;
  const word = words.find((each) => each === value);
  if (word === undefined) throw new ApiError(400, 'ERR_PARAMETER', `${name} must be one of ${words.join(', ')}`);
  return word;
}
