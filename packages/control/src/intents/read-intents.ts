import { IntentError, type IntentErrorCode, type IntentProblem } from '../errors.js';
import type { FlowMatch, PortRange } from './flow-match.js';
import { spaceOf } from './flow-space.js';
import { DETECT_ALGORITHMS, DETECT_METRICS, type Intent, type IntentKind } from './intent.js';
import { inOrder, instructionsOf, isWatchField, WATCH_FIELDS, type WatchField } from './watch-fields.js';

type Path = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;

/** Bits of INT 2.1's instruction bitmap that ask for something: bits 0 to 8, and the Checksum Complement. */
const INSTRUCTIONS = 0xff81;
const MAX_ID = 128;
const MAX_TEXT = 1024;
/** Milliseconds that a `Date` can have. */
const MAX_MS = 8.64e15;
const MAX_SWITCH_ID = 0xffff_ffff;
const MAX_PORT = 511;
const MAX_VIA = 64;
const MAX_SWITCHES = 4096;
const MAX_LEVEL = 1000;
const MAX_EVENTS = 1e6;
const MAX_THRESHOLD = 0xffff_ffff;

const TERMS = ['id', 'owner', 'priority', 'fromMs', 'ttlMs', 'reason', 'kind'];
const FIELDS: Readonly<Record<IntentKind, readonly string[]>> = {
  watch: ['match', 'instructions', 'fields', 'oneIn'],
  block: ['match', 'reportOneIn'],
  limit: ['match', 'bitsPerSecond'],
  avoid: ['link'],
  path: ['match', 'via'],
  protect: ['destination', 'level'],
  keep: ['metric', 'below'],
  detect: ['match', 'switches', 'metric', 'algorithm', 'scope', 'target', 'band'],
};
const MATCH_FIELDS = ['source', 'destination', 'protocol', 'sourcePort', 'destinationPort'];

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a text has none of
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Reads one thing and notes all that is wrong with it. */
class Reader {
  readonly problems: IntentProblem[] = [];

  wrong(code: IntentErrorCode, path: Path, message: string): void {
    this.problems.push({ code, path, message });
  }

  object(value: unknown, path: Path, names: readonly string[]): Fields | null {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.wrong('ERR_INTENT_TYPE', path, `${shown(value)} is no object`);
      return null;
    }
    for (const name of Object.keys(value)) {
      if (!names.includes(name)) {
        this.wrong('ERR_INTENT_FIELD', [...path, name], `there is no such field: there are ${names.join(', ')}`);
      }
    }
    return value as Fields;
  }

  text(fields: Fields, name: string, path: Path, most: number, least = 1): string {
    const value = fields[name];
    if (typeof value !== 'string') this.wrong('ERR_INTENT_TYPE', [...path, name], `${shown(value)} is no text`);
    else if (value.length < least || value.length > most || CONTROL.test(value)) {
      const message = `a text of ${least} to ${most} characters without control characters is expected`;
      this.wrong('ERR_INTENT_VALUE', [...path, name], message);
    } else return value;
    return '';
  }

  number(fields: Fields, name: string, path: Path, least: number, most: number, isWhole = true): number {
    const value = fields[name];
    if (typeof value !== 'number') this.wrong('ERR_INTENT_TYPE', [...path, name], `${shown(value)} is no number`);
    else if (!(value >= least && value <= most) || (isWhole && !Number.isInteger(value))) {
      const kind = isWhole ? 'whole number' : 'number';
      this.wrong('ERR_INTENT_VALUE', [...path, name], `${value} is no ${kind} from ${least} to ${most}`);
    } else return value;
    return least;
  }

  ports(value: unknown, path: Path): PortRange | undefined {
    const isPort = (each: unknown): each is number =>
      typeof each === 'number' && Number.isInteger(each) && each >= 0 && each <= 0xffff;
    if (isPort(value)) return [value, value];
    if (Array.isArray(value) && value.length === 2) {
      const [low, high]: unknown[] = value;
      if (isPort(low) && isPort(high) && low <= high) return [low, high];
    }
    this.wrong('ERR_INTENT_VALUE', path, `${shown(value)} is no port and no range [low, high] of ports`);
    return undefined;
  }

  match(value: unknown, path: Path): FlowMatch {
    const fields = this.object(value, path, MATCH_FIELDS);
    if (fields === null) return {};
    const { source, destination, protocol, sourcePort, destinationPort } = fields;
    const before = this.problems.length;
    const match: FlowMatch = {
      ...(source !== undefined && { source: this.text(fields, 'source', path, MAX_ID) }),
      ...(destination !== undefined && { destination: this.text(fields, 'destination', path, MAX_ID) }),
      ...(protocol !== undefined && { protocol: this.number(fields, 'protocol', path, 0, 255) }),
      ...(sourcePort !== undefined && portsOf('sourcePort', this.ports(sourcePort, [...path, 'sourcePort']))),
      ...(destinationPort !== undefined &&
        portsOf('destinationPort', this.ports(destinationPort, [...path, 'destinationPort']))),
    };
    if (this.problems.length === before) {
      for (const name of ['source', 'destination'] as const) {
        const address = match[name];
        if (address === undefined || spaceOf({ source: address }) !== null) continue;
        const message = `${shown(address)} is no address or prefix: write 10.0.1.0/24`;
        this.wrong('ERR_INTENT_VALUE', [...path, name], message);
      }
      if (this.problems.length === before && spaceOf(match) === null) {
        this.wrong('ERR_INTENT_VALUE', path, 'source and destination are of two versions of IP: nothing matches');
      }
    }
    return match;
  }

  /** A list of switches by id, each once. */
  switches(value: unknown, path: Path, most: number): readonly number[] {
    const ids: number[] = [];
    if (!Array.isArray(value) || value.length === 0 || value.length > most) {
      this.wrong('ERR_INTENT_VALUE', path, `a list of 1 to ${most} ids of switches is expected`);
      return ids;
    }
    for (const index of value.keys()) {
      const id = this.number(value as unknown as Fields, String(index), path, 0, MAX_SWITCH_ID);
      if (ids.includes(id)) this.wrong('ERR_INTENT_VALUE', [...path, index], `${id} comes twice`);
      ids.push(id);
    }
    return ids;
  }

  oneOf<T extends string>(fields: Fields, name: string, path: Path, values: readonly [T, ...T[]]): T {
    const found = values.find((each) => each === fields[name]);
    if (found === undefined) {
      const message = `${shown(fields[name])} is no ${name}: there are ${values.join(', ')}`;
      this.wrong('ERR_INTENT_VALUE', [...path, name], message);
    }
    return found ?? values[0];
  }

  band(value: unknown, path: Path): { readonly minimum: number; readonly maximum: number } {
    const fields = this.object(value, path, ['minimum', 'maximum']) ?? {};
    const minimum = this.number(fields, 'minimum', path, 0, MAX_THRESHOLD);
    return { minimum, maximum: this.number(fields, 'maximum', path, minimum, MAX_THRESHOLD) };
  }

  /** Fields by name; they tell the instructions. */
  watchFields({ fields, instructions }: Fields, path: Path): readonly WatchField[] {
    const at = [...path, 'fields'];
    if (!Array.isArray(fields) || fields.length === 0 || fields.length > 8) {
      this.wrong('ERR_INTENT_VALUE', at, 'a list of 1 to 8 fields is expected');
      return ['switchId'];
    }
    const known: WatchField[] = [];
    for (const [index, name] of fields.entries()) {
      if (isWatchField(name)) known.push(name);
      else {
        const message = `${shown(name)} is no field: there are ${Object.keys(WATCH_FIELDS).join(', ')}`;
        this.wrong('ERR_INTENT_VALUE', [...at, index], message);
      }
    }
    if (instructions !== undefined && instructions !== instructionsOf(known)) {
      this.wrong('ERR_INTENT_VALUE', at, 'give fields or instructions: these are not those of the fields');
    }
    return inOrder(known);
  }

  intent(value: unknown, path: Path): Intent | null {
    const kind = (value as Fields | null)?.kind;
    if (typeof value === 'object' && value !== null && !(typeof kind === 'string' && Object.hasOwn(FIELDS, kind))) {
      const message = `${shown(kind)} is no kind of intent: there are ${Object.keys(FIELDS).join(', ')}`;
      this.wrong('ERR_INTENT_KIND', [...path, 'kind'], message);
      return null;
    }
    const fields = this.object(value, path, [...TERMS, ...(FIELDS[kind as IntentKind] ?? [])]);
    if (fields === null) return null;
    const terms = {
      id: this.text(fields, 'id', path, MAX_ID),
      owner: this.text(fields, 'owner', path, MAX_ID),
      priority: this.number(fields, 'priority', path, 1, 1000),
      fromMs: this.number(fields, 'fromMs', path, 0, MAX_MS, false),
      ttlMs: fields.ttlMs === null ? null : this.number(fields, 'ttlMs', path, 1, MAX_MS, false),
      reason: this.text(fields, 'reason', path, MAX_TEXT, 0),
    };
    switch (kind as IntentKind) {
      case 'watch': {
        const named = fields.fields === undefined ? null : this.watchFields(fields, path);
        const instructions =
          named === null ? this.number(fields, 'instructions', path, 1, 0xffff) : instructionsOf(named);
        if ((instructions & ~INSTRUCTIONS) !== 0) {
          const message = `0x${instructions.toString(16)} asks for reserved bits: there are those of 0xff81`;
          this.wrong('ERR_INTENT_VALUE', [...path, 'instructions'], message);
        }
        const oneIn = this.number(fields, 'oneIn', path, 1, 0xffff_ffff);
        const match = this.match(fields.match, [...path, 'match']);
        return { ...terms, kind: 'watch', match, instructions, ...(named !== null && { fields: named }), oneIn };
      }
      case 'block': {
        const reportOneIn = this.number(fields, 'reportOneIn', path, 0, 0xffff_ffff);
        return { ...terms, kind: 'block', match: this.match(fields.match, [...path, 'match']), reportOneIn };
      }
      case 'limit': {
        const bitsPerSecond = this.number(fields, 'bitsPerSecond', path, 8, 1e15);
        return { ...terms, kind: 'limit', match: this.match(fields.match, [...path, 'match']), bitsPerSecond };
      }
      case 'avoid': {
        const at = [...path, 'link'];
        const link = this.object(fields.link, at, ['switchId', 'port']);
        return {
          ...terms,
          kind: 'avoid',
          link:
            link === null
              ? { switchId: 0, port: 0 }
              : {
                  switchId: this.number(link, 'switchId', at, 0, MAX_SWITCH_ID),
                  port: this.number(link, 'port', at, 0, MAX_PORT),
                },
        };
      }
      case 'path': {
        const via = this.switches(fields.via, [...path, 'via'], MAX_VIA);
        return { ...terms, kind: 'path', match: this.match(fields.match, [...path, 'match']), via };
      }
      case 'detect':
        return {
          ...terms,
          kind: 'detect',
          match: this.match(fields.match, [...path, 'match']),
          switches:
            fields.switches === null ? null : this.switches(fields.switches, [...path, 'switches'], MAX_SWITCHES),
          metric: this.oneOf(fields, 'metric', path, DETECT_METRICS),
          algorithm: this.oneOf(fields, 'algorithm', path, DETECT_ALGORITHMS),
          scope: this.oneOf(fields, 'scope', path, ['hop', 'endToEnd']),
          target: this.number(fields, 'target', path, Number.MIN_VALUE, MAX_EVENTS, false),
          band: fields.band === null ? null : this.band(fields.band, [...path, 'band']),
        };
      case 'protect': {
        const { destination } = this.match({ destination: fields.destination ?? '' }, path);
        return {
          ...terms,
          kind: 'protect',
          destination: destination ?? '',
          level: this.number(fields, 'level', path, 0, MAX_LEVEL, false),
        };
      }
      default: {
        if (fields.metric !== 'link-load') {
          this.wrong(
            'ERR_INTENT_VALUE',
            [...path, 'metric'],
            `${shown(fields.metric)} is no metric: there is link-load`,
          );
        }
        const below = this.number(fields, 'below', path, Number.MIN_VALUE, 1, false);
        return { ...terms, kind: 'keep', metric: 'link-load', below };
      }
    }
  }
}

const portsOf = (name: string, range: PortRange | undefined): Fields => (range === undefined ? {} : { [name]: range });

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'bigint' || typeof value === 'function' ? String(value) : (JSON.stringify(value) ?? '');
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/**
 * Reads intents from plain objects, as of a file or a request. A port may be given instead of a range, and a watch may have
 * `fields` by name instead of instructions: `['switchId', 'ingressPort', 'egressPort', 'hopLatency', 'queueOccupancy',
 * 'congestionStatus', 'ingressTimestamp', 'egressUtilization']`.
 *
 * @throws IntentError with all problems, each with its path from the list
 */
export function readIntents(values: unknown): readonly Intent[] {
  const reader = new Reader();
  if (!Array.isArray(values)) {
    throw new IntentError([{ code: 'ERR_INTENT_TYPE', path: [], message: `${shown(values)} is no list of intents` }]);
  }
  const ids = new Set<string>();
  const intents = values.map((value, index) => {
    const intent = reader.intent(value, [index]);
    if (intent !== null && intent.id !== '') {
      if (ids.has(intent.id)) {
        reader.wrong('ERR_INTENT_DUPLICATE', [index, 'id'], `two intents are called ${shown(intent.id)}`);
      }
      ids.add(intent.id);
    }
    return intent;
  });
  if (reader.problems.length > 0) throw new IntentError(reader.problems);
  return intents as readonly Intent[];
}
