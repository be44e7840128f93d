import type {
  ControlAnswer,
  ControlOrder,
  HostsAnswer,
  IncidentRow,
  IncidentsAnswer,
  IntentKind,
  JournalAnswer,
  OrderAnswer,
  ProposalAnswer,
  ProposalState,
  ProposalsAnswer,
} from '../protocol/control.js';
import type { EntityKey, SeriesMetric } from '../protocol/entities.js';
import type {
  Annotation,
  AnnotationsAnswer,
  AppliedAnswer,
  Biography,
  CapturesAnswer,
  CheckAnswer,
  DryRunAnswer,
  EventsAnswer,
  FlowsAnswer,
  QueryAnswer,
  ReplayAnswer,
  ReplaysAnswer,
  ReportsAnswer,
  RulesAnswer,
  SavedQueriesAnswer,
  SeriesAnswer,
  Status,
  TablesAnswer,
  TimeMs,
  TopologyAnswer,
  WorstAnswer,
} from '../protocol/http.js';
import { errorOf, RequestError } from './errors.js';
import { LiveStream, type SocketLike } from './live-stream.js';

export interface DashboardClientOptions {
  /** Where the dashboard is, such as `http://127.0.0.1:9090/`. */
  readonly url: string | URL;
  /** The token of a dashboard that asks for one. In a browser the cookie of its login page does instead. */
  readonly token?: string;
  /** Default: that of the browser or of Node. */
  readonly fetch?: typeof fetch;
  /** Opens a socket. Default: the browser's `WebSocket`; in Node pass one that sends the headers, as that of `ws` does. */
  readonly webSocket?: (url: string, headers: Readonly<Record<string, string>>) => SocketLike;
  /** Pause before a lost live stream is made anew. Default `{ firstMs: 250, maxMs: 10000 }` */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
}

interface Range {
  readonly from?: TimeMs | undefined;
  readonly to?: TimeMs | undefined;
}

/** Which rows of a list, the newest first: by the id of a row next to them, older or newer, and those of a time. */
interface Beside<Id extends string | number> {
  readonly limit?: number;
  readonly before?: Id | undefined;
  readonly after?: Id | undefined;
  readonly at?: number | undefined;
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;
type Call = { readonly signal?: AbortSignal };

/**
 * The programming interface of a dashboard. Every method rejects with a {@link RequestError} if the server refuses or
 * cannot be reached.
 *
 * @example
 * const client = new DashboardClient({ url: 'http://127.0.0.1:9090/' });
 * const { rows } = await client.events({ filter: 'rule=deep-queue', limit: 1 });
 * if (rows[0] !== undefined) console.log((await client.biography(rows[0].id)).hops);
 */
export class DashboardClient {
  readonly #base: URL;
  readonly #options: DashboardClientOptions;
  /** The replay that requests and new streams are about; `null`: the network. */
  replay: string | null = null;

  constructor(options: DashboardClientOptions) {
    this.#options = options;
    this.#base = new URL('api/v1/', options.url);
  }

  status(call?: Call): Promise<Status> {
    return this.#get('status', {}, call);
  }

  /** @param at as it was then; else as it is */
  topology(at?: TimeMs, call?: Call): Promise<TopologyAnswer> {
    return this.#get('topology', { at }, call);
  }

  series(
    query: Range & {
      readonly metric: SeriesMetric;
      readonly entities: readonly EntityKey[];
      readonly stepMs?: number | undefined;
    },
    call?: Call,
  ): Promise<SeriesAnswer> {
    const { metric, entities, from, to, stepMs } = query;
    return this.#get('series', { metric, entity: entities, from, to, step: stepMs }, call);
  }

  /** The entities of a kind with the largest values of ten seconds. */
  worst(
    query: {
      readonly metric: SeriesMetric;
      readonly kind: 'switch' | 'queue' | 'link';
      readonly limit?: number;
      readonly at?: TimeMs | undefined;
    },
    call?: Call,
  ): Promise<WorstAnswer> {
    return this.#get('worst', { ...query }, call);
  }

  flows(
    query: {
      readonly filter?: string;
      readonly sort?: string;
      readonly limit?: number;
      readonly at?: TimeMs | undefined;
    },
    call?: Call,
  ): Promise<FlowsAnswer> {
    return this.#get('flows', query, call);
  }

  /** @param query.before the id of an event: older ones */
  events(
    query: Range & { readonly filter?: string; readonly limit?: number; readonly before?: string | undefined },
    call?: Call,
  ): Promise<EventsAnswer> {
    return this.#get('events', { ...query }, call);
  }

  reports(query: Range & { readonly filter?: string; readonly limit?: number }, call?: Call): Promise<ReportsAnswer> {
    return this.#get('reports', { ...query }, call);
  }

  /** Why an event was raised: the packet, its path, its neighbours. */
  biography(eventId: string, call?: Call): Promise<Biography> {
    return this.#get(`events/${encodeURIComponent(eventId)}`, {}, call);
  }

  /** That of any report of the sample. */
  reportBiography(reportId: string, call?: Call): Promise<Biography> {
    return this.#get(`reports/${encodeURIComponent(reportId)}/biography`, {}, call);
  }

  rules(call?: Call): Promise<RulesAnswer> {
    return this.#get('rules', {}, call);
  }

  checkRules(yaml: string, call?: Call): Promise<CheckAnswer> {
    return this.#send('POST', 'rules/check', { yaml }, call);
  }

  dryRun(yaml: string, seconds?: number, call?: Call): Promise<DryRunAnswer> {
    return this.#send('POST', 'rules/dry-run', { yaml, seconds }, call);
  }

  /** The rules as commands for the tables of P4 switches. */
  ruleTables(yaml: string, call?: Call): Promise<TablesAnswer> {
    return this.#send('POST', 'rules/tables', { yaml }, call);
  }

  /** @param revision the one that runs; if another runs by now, the server refuses */
  applyRules(yaml: string, revision: string, save: boolean, call?: Call): Promise<AppliedAnswer> {
    return this.#send('PUT', 'rules', { yaml, revision, save }, call);
  }

  query(sql: string, limit?: number, call?: Call): Promise<QueryAnswer> {
    return this.#send('POST', 'query', { sql, limit }, call);
  }

  /** Queries with names, which all who look share. */
  savedQueries(call?: Call): Promise<SavedQueriesAnswer> {
    return this.#get('queries', {}, call);
  }

  saveQuery(name: string, sql: string, call?: Call): Promise<SavedQueriesAnswer> {
    return this.#send('PUT', `queries/${encodeURIComponent(name)}`, { sql }, call);
  }

  removeQuery(name: string, call?: Call): Promise<SavedQueriesAnswer> {
    return this.#send('DELETE', `queries/${encodeURIComponent(name)}`, undefined, call);
  }

  /** What was noted of a range of time, newest first. */
  annotations(range: Range = {}, call?: Call): Promise<AnnotationsAnswer> {
    return this.#get('annotations', { ...range }, call);
  }

  /** Notes what happens: by default now, and of the whole network. */
  annotate(
    note: {
      readonly text: string;
      readonly timeMs?: TimeMs;
      readonly durationMs?: number;
      readonly entity?: EntityKey;
    },
    call?: Call,
  ): Promise<Annotation> {
    return this.#send('POST', 'annotations', note, call);
  }

  /** The capture files that can be replayed. */
  captures(call?: Call): Promise<CapturesAnswer> {
    return this.#get('captures', {}, call);
  }

  replays(call?: Call): Promise<ReplaysAnswer> {
    return this.#get('replays', {}, call);
  }

  /**
   * Plays a range of time once more, or a capture of the configuration. To look at it, set {@link replay} to its id.
   * @param speed 0.1 to 100
   */
  startReplay(
    what: { readonly from: TimeMs; readonly to: TimeMs } | ({ readonly capture: string } & Range),
    speed = 1,
    call?: Call,
  ): Promise<ReplayAnswer> {
    return this.#send('POST', 'replays', { ...what, speed }, call);
  }

  /** @param speed 0: it stands still */
  setReplaySpeed(id: string, speed: number, call?: Call): Promise<ReplayAnswer> {
    return this.#send('PUT', `replays/${encodeURIComponent(id)}`, { speed }, call);
  }

  /** Ends a replay. @returns those that are left */
  endReplay(id: string, call?: Call): Promise<ReplaysAnswer> {
    return this.#send('DELETE', `replays/${encodeURIComponent(id)}`, undefined, call);
  }

  /** The state of the controller, and of its switches. */
  control(call?: Call): Promise<ControlAnswer> {
    return this.#get('control', {}, call);
  }

  /** What detectors have found, newest first. @param query.before the id of an incident: older ones; `after`: newer ones */
  incidents(
    query: Beside<string> & {
      readonly state?: 'open' | 'close' | undefined;
      readonly kind?: string | undefined;
      readonly entity?: string | undefined;
    } = {},
    call?: Call,
  ): Promise<IncidentsAnswer> {
    return this.#get('control/incidents', { ...query }, call);
  }

  incident(id: string, call?: Call): Promise<IncidentRow> {
    return this.#get(`control/incidents/${encodeURIComponent(id)}`, {}, call);
  }

  /** Security levels of hosts, and phases of attacks seen at them. */
  hosts(query: { readonly limit?: number } = {}, call?: Call): Promise<HostsAnswer> {
    return this.#get('control/hosts', query, call);
  }

  /** What the controller wants or wanted, newest first. @param query.before the id of a proposal: older ones; `after`: newer ones */
  proposals(
    query: Beside<string> & {
      readonly state?: 'live' | 'ended' | ProposalState | undefined;
      readonly kind?: IntentKind | undefined;
    } = {},
    call?: Call,
  ): Promise<ProposalsAnswer> {
    return this.#get('control/proposals', { ...query }, call);
  }

  /** All of a proposal: its rehearsal, what it changes on each switch, its effect. */
  proposal(id: string, call?: Call): Promise<ProposalAnswer> {
    return this.#get(`control/proposals/${encodeURIComponent(id)}`, {}, call);
  }

  /** What the controller did, newest first. @param query.before the id of a row: older ones; `after`: newer ones */
  journal(
    query: Beside<number> & {
      readonly what?: string | undefined;
      readonly proposal?: string | undefined;
      readonly switchId?: number | undefined;
    } = {},
    call?: Call,
  ): Promise<JournalAnswer> {
    const { switchId, ...rest } = query;
    return this.#get('control/journal', { ...rest, switch: switchId }, call);
  }

  /** Tells the controller what to do; it refuses what it cannot. */
  order(order: ControlOrder, call?: Call): Promise<OrderAnswer> {
    return this.#send('POST', 'control/orders', order, call);
  }

  /** What comes by itself: series, events, reports, the topology. */
  live(): LiveStream {
    const url = new URL('live', this.#base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.replay !== null) url.searchParams.set('replay', this.replay);
    const open =
      this.#options.webSocket ?? ((address: string) => new globalThis.WebSocket(address) as unknown as SocketLike);
    return new LiveStream({
      open: () => open(url.href, this.#headers()),
      retry: this.#options.retry ?? { firstMs: 250, maxMs: 10_000 },
    });
  }

  #headers(): Record<string, string> {
    const { token } = this.#options;
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  #get<Answer>(path: string, query: Query, call: Call = {}): Promise<Answer> {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries({ ...query, replay: this.replay ?? undefined })) {
      if (value === undefined) continue;
      for (const each of typeof value === 'object' ? value : [value]) url.searchParams.append(name, String(each));
    }
    return this.#ask(url, { headers: this.#headers(), ...call });
  }

  #send<Answer>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: unknown, call: Call = {}): Promise<Answer> {
    const json =
      body === undefined
        ? { headers: this.#headers() }
        : { headers: { ...this.#headers(), 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return this.#ask(new URL(path, this.#base), { method, ...json, ...call });
  }

  async #ask<Answer>(url: URL, init: RequestInit): Promise<Answer> {
    const request = this.#options.fetch ?? globalThis.fetch;
    let response: Response;
    let body: unknown;
    try {
      response = await request(url, init);
      body = response.headers.get('content-type')?.includes('json') ? await response.json() : null;
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RequestError(`the dashboard does not answer: ${reason}`, 'ERR_UNREACHABLE', 0, null, { cause });
    }
    if (!response.ok || body === null) throw errorOf(response.status, body);
    return body as Answer;
  }
}
