/** What a request for a replay asks, and where its reports come from. */
import { stat } from 'node:fs/promises';
import type { DetectorOptions, RuleSet } from '@int/detect';
import type { HistoryReader } from '../history/history-reader.js';
import { HistoryRange } from '../older/history-range.js';
import { isOlder, oldestOf } from '../older/older-times.js';
import { extentOf } from '../older/stored-range.js';
import type { CapturesAnswer, ReplayAnswer, RulesAnswer } from '../protocol/http.js';
import { checkRules } from '../rules/check.js';
import { ApiError } from '../server/api-error.js';
import { LAST_MS, type Services } from '../server/routes.js';
import { CaptureRange } from './capture-range.js';
import { type RangeSource, RetainedRange } from './range-source.js';

const SLOWEST = 0.1;
const FASTEST = 100;
/** The longest range of the history, and of a capture. */
const LONGEST_MS = 3_600_000;
/** How long a capture may be searched for its first report. */
const PATIENCE_MS = 20_000;

export type ReaderOf = (services: Pick<Services, 'facts'>) => HistoryReader | null;

/** A capture that the operator has named: a fact of the program. Nobody else names files. */
interface CaptureFact {
  readonly name: string;
  readonly path: string;
}

interface ReplayRequest {
  readonly capture: string | null;
  /** Of a capture they may be missing: all of it. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly speed: number;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= LAST_MS;

/** @throws ApiError for a body that asks for no replay */
export function replayRequest(body: unknown): ReplayRequest {
  const { capture = null, from, to, speed = 1 } = (body ?? {}) as Partial<Record<string, unknown>>;
  if (capture !== null && (typeof capture !== 'string' || capture === '')) {
    throw new ApiError(400, 'ERR_BODY', 'capture must be a name of GET /api/v1/captures');
  }
  for (const [name, time] of Object.entries({ from, to })) {
    if (capture !== null && time === undefined) continue;
    if (!isTime(time)) throw new ApiError(400, 'ERR_BODY', `${name} must be a time in milliseconds`);
  }
  const range = { from: from as number | undefined, to: to as number | undefined };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to) {
    throw new ApiError(400, 'ERR_BODY', 'from must be before to');
  }
  return { capture, ...range, speed: speedOf(speed) };
}

/** @throws ApiError for a speed out of range */
export function speedOf(value: unknown): number {
  if (typeof value === 'number' && value >= SLOWEST && value <= FASTEST) return value;
  throw new ApiError(400, 'ERR_BODY', `speed must be a number from ${SLOWEST} to ${FASTEST}`);
}

interface OpenedRange {
  readonly source: RangeSource;
  readonly name: Pick<ReplayAnswer, 'source' | 'capture'>;
  readonly from: number;
  readonly to: number;
}

/**
 * Opens what is to be replayed.
 * @throws ApiError (rejects) if there is nothing, or too much; the signal's reason
 */
export function openRange(
  asked: ReplayRequest,
  services: Services,
  readerOf: ReaderOf,
  signal: AbortSignal,
): Promise<OpenedRange> {
  const { capture, from, to } = asked;
  if (capture !== null) return openCapture({ ...asked, capture }, services, signal);
  return openTime(from!, to!, services, readerOf(services), signal);
}

async function openTime(
  from: number,
  to: number,
  { live }: Services,
  reader: HistoryReader | null,
  signal: AbortSignal,
): Promise<OpenedRange> {
  const { retention } = live;
  const isStored = reader !== null && isOlder(from, retention);
  const longest = isStored ? LONGEST_MS : retention.seconds * 1000;
  if (to - from > longest) {
    throw new ApiError(
      400,
      'ERR_BODY',
      `a replay has at most ${longest / 1000} seconds${isStored ? '' : ': those that are retained'}`,
    );
  }
  const segments = [...retention.store.segments(from, to)].reverse();
  if (!isStored) {
    const oldest = retention.store.fromMs;
    if (oldest === null || to <= oldest) {
      throw new ApiError(404, 'ERR_NOT_FOUND', 'nothing of this range is retained any more, and there is no history');
    }
    return { source: new RetainedRange(segments, from, to), name: { source: 'retained' }, from, to };
  }
  const extent = await extentOf(reader, signal);
  if (segments.length === 0 && (extent === null || to <= extent.from || from > extent.to)) {
    const text = (ms: number): string => new Date(ms).toISOString();
    const reach = extent === null ? 'is empty' : `reaches from ${text(extent.from)} to ${text(extent.to)}`;
    throw new ApiError(404, 'ERR_NOT_FOUND', `nothing of this range is stored: the history ${reach}`);
  }
  const retainedMs = oldestOf(retention) ?? Number.POSITIVE_INFINITY;
  return { source: new HistoryRange(reader, segments, retainedMs), name: { source: 'history' }, from, to };
}

async function openCapture(
  { capture, from, to }: ReplayRequest & { readonly capture: string },
  services: Services,
  signal: AbortSignal,
): Promise<OpenedRange> {
  const found = capturesOf(services).find(({ name }) => name === capture);
  if (found === undefined) {
    throw new ApiError(404, 'ERR_NOT_FOUND', `the configuration names no capture ${capture.slice(0, 80)}`);
  }
  const { device } = services.live.network;
  const source = await CaptureRange.open(
    {
      ...found,
      decode: device.decode,
      rules: await rulesOf(services),
      detector: (services.facts.detector ?? {}) as DetectorOptions,
      from,
    },
    AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  ).catch((error: unknown) => {
    if (ApiError.is(error) || signal.aborted) throw error;
    const reason = `no report was found in ${PATIENCE_MS / 1000} s`;
    throw new ApiError(408, 'ERR_UNAVAILABLE', `the capture ${capture} cannot be replayed: ${reason}`);
  });
  const first = from ?? source.firstMs;
  const end = to ?? first + LONGEST_MS;
  if (end - first > LONGEST_MS || end <= first) {
    source.close();
    throw new ApiError(400, 'ERR_BODY', `a replay has at most ${LONGEST_MS / 1000} seconds`);
  }
  return { source, name: { source: 'capture', capture }, from: first, to: end };
}

/** The rules in force; `null`: the program does not tell, or has none. */
async function rulesOf(services: Services): Promise<RuleSet | null> {
  try {
    const { yaml } = (await services.ask('rules', null)) as Pick<RulesAnswer, 'yaml'>;
    const { network } = services.live;
    return checkRules(yaml, { profile: network.device, topology: network.topology }).ruleSet;
  } catch (error) {
    if (ApiError.is(error)) return null;
    throw error;
  }
}

const capturesOf = ({ facts }: Pick<Services, 'facts'>): readonly CaptureFact[] =>
  (facts.captures as readonly CaptureFact[] | undefined) ?? [];

/** Answers `GET /api/v1/captures`: names, never paths. */
export async function capturesAnswer(services: Services): Promise<CapturesAnswer> {
  const captures = await Promise.all(
    capturesOf(services).map(async ({ name, path }) => {
      const found = await stat(path).catch(() => null);
      return { name, bytes: found?.isFile() ? found.size : null };
    }),
  );
  return { captures };
}
