import { METRIC_NAMES } from '@int/codec';
import { DETECTOR_KINDS, type DetectorOptions, exportTables, type RulesContext } from '@int/detect';
import { keptReports } from '../biography/kept-report.js';
import { BUCKET_MS } from '../protocol/entities.js';
import type { AppliedAnswer, CheckAnswer, DryRunAnswer, RulesAnswer, TablesAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, type Route, type Services, type View, viewOf } from '../server/routes.js';
import { checkRules, MOST_CHARACTERS } from './check.js';
import { dryRun } from './dry-run.js';

const USUAL_SECONDS = 60;
const MOST_SECONDS = 86_400;
/** Dry runs at a time. */
const MOST_AT_ONCE = 2;
/** Switches and groups that are offered as words. */
const MOST_WORDS = 5000;

/** What can be asked of rules. */
export function rulesRoutes(): readonly Route[] {
  let running = 0;
  const dry = async (asked: Asked, services: Services): Promise<DryRunAnswer> => {
    if (running >= MOST_AT_ONCE) {
      throw new ApiError(429, 'ERR_TOO_MANY', `${MOST_AT_ONCE} dry runs are under way: try again when one has ended`);
    }
    running++;
    try {
      return await dryRunAnswer(asked, services);
    } finally {
      running--;
    }
  };
  return [
    { method: 'GET', path: '/api/v1/rules', handle: rulesAnswer },
    { method: 'POST', path: '/api/v1/rules/check', changes: false, handle: checkAnswer },
    { method: 'POST', path: '/api/v1/rules/dry-run', changes: false, handle: dry },
    { method: 'POST', path: '/api/v1/rules/tables', changes: false, handle: tablesAnswer },
    { method: 'PUT', path: '/api/v1/rules', handle: apply },
  ];
}

/** Units and names that rules may refer to. */
function contextOf({ network }: View): RulesContext {
  return { profile: network.device, topology: network.topology };
}

/** A property of the body that must be text. @throws ApiError */
function textOf(body: unknown, name: string): string {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') throw new ApiError(400, 'ERR_BODY', `the body must have ${name}, a text`);
  return value;
}

function yamlOf(body: unknown): string {
  const yaml = textOf(body, 'yaml');
  if (yaml.length > MOST_CHARACTERS) {
    throw new ApiError(413, 'ERR_BODY_TOO_LARGE', `rules may have ${MOST_CHARACTERS} characters here`);
  }
  return yaml;
}

async function rulesAnswer(_: Asked, services: Services): Promise<RulesAnswer> {
  const answer = (await services.ask('rules', null)) as Omit<RulesAnswer, 'words'>;
  const { network } = services.live;
  const ids = new Set([...network.topology.switches.keys(), ...network.learnt().switches.map(({ id }) => id)]);
  const switches = [...ids].slice(0, MOST_WORDS).map((id) => network.topology.switchName(id) ?? String(id));
  const groups = [...network.topology.hosts.keys()].slice(0, MOST_WORDS);
  return { ...answer, words: { metrics: METRIC_NAMES, switches, groups, detectors: DETECTOR_KINDS } };
}

function checkAnswer({ body }: Asked, { live }: Services): CheckAnswer {
  return { problems: checkRules(yamlOf(body), contextOf(live)).problems };
}

async function dryRunAnswer(asked: Asked, services: Services): Promise<DryRunAnswer> {
  const view = viewOf(asked, services);
  const yaml = yamlOf(asked.body);
  const { seconds = USUAL_SECONDS } = asked.body as { readonly seconds?: unknown };
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new ApiError(400, 'ERR_BODY', `seconds must be a number above 0, at most ${MOST_SECONDS}`);
  }
  const { store, series, nowMs } = view.retention;
  const to = nowMs === null ? 0 : nowMs + 1;
  const from = to - seconds * 1000;
  const running = new Map<string, number>();
  for (const { events, row } of store.events(from, to)) {
    const rule = events.ruleName(row) ?? 'default';
    running.set(rule, (running.get(rule) ?? 0) + 1);
  }
  return dryRun({
    yaml,
    reports: keptReports(store, from, to),
    total: reportsIn(series, from, to),
    running,
    detector: (services.facts.detector ?? {}) as DetectorOptions,
    context: contextOf(view),
    signal: asked.signal,
  });
}

/** All reports of a range, in whole buckets. */
function reportsIn(series: View['retention']['series'], from: number, to: number): number {
  const first = Math.max(Math.floor(from / BUCKET_MS), series.firstBucket);
  const count = Math.ceil(to / BUCKET_MS) - first;
  const all = series.find('all');
  if (all === null || count <= 0) return 0;
  const values = new Float64Array(count).fill(Number.NaN);
  series.read(all.row, 'reports', first, count, values);
  return values.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + value), 0);
}

function tablesAnswer({ body }: Asked, { live }: Services): TablesAnswer {
  const { ruleSet, problems } = checkRules(yamlOf(body), contextOf(live));
  if (ruleSet === null) return { problems, commands: [], refused: [] };
  const { commands, refused } = exportTables(ruleSet, { unsupported: 'report' });
  return { problems, commands, refused: refused.map(({ rule, reason }) => ({ rule, reason })) };
}

async function apply({ body }: Asked, services: Services): Promise<AppliedAnswer> {
  const yaml = yamlOf(body);
  const { problems } = checkRules(yaml, contextOf(services.live));
  const error = problems.find(({ severity }) => severity === 'error');
  if (error !== undefined) {
    const { line, column } = error;
    throw new ApiError(400, 'ERR_RULES', error.message, { line, column });
  }
  const save = (body as { readonly save?: unknown }).save === true;
  return (await services.ask('rules.apply', { yaml, revision: textOf(body, 'revision'), save })) as AppliedAnswer;
}
