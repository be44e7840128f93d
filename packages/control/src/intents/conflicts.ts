import { type FlowSpace, overlaps, spaceOf } from './flow-space.js';
import type { Intent } from './intent.js';
import { byAge } from './lifetime.js';
import { inOrder } from './watch-fields.js';

/** Two intents of which only one can hold. */
export interface Conflict {
  /** The older one, which stays. */
  readonly kept: string;
  readonly refused: string;
  readonly message: string;
}

/** What intents decide about a packet: two contradict each other only about the same. */
type Aspect = 'access' | 'watch' | 'way' | 'events';

const ASPECTS: Readonly<Record<Intent['kind'], Aspect | null>> = {
  block: 'access',
  limit: 'access',
  watch: 'watch',
  path: 'way',
  avoid: 'way',
  protect: null,
  keep: null,
  detect: 'events',
};

/** What an intent wants of its packets, as text: intents with the same text agree. */
function wantOf(intent: Intent): string {
  switch (intent.kind) {
    case 'block':
      return `block:${intent.reportOneIn}`;
    case 'watch':
      return `watch:${intent.instructions}:${inOrder(intent.fields ?? [])}:${intent.oneIn}`;
    case 'path':
      return `path:${intent.via.join(',')}`;
    // Each limit has a meter of its own: two cannot count the same packet.
    case 'limit':
      return `limit:${intent.id}`;
    // Each has a threshold of its own, and one rule decides about a packet.
    case 'detect':
      return `detect:${intent.id}`;
    default:
      return intent.kind;
  }
}

/** Whether a path crosses a link between two switches that another intent avoids. */
export type Crosses = (via: readonly number[], link: { readonly switchId: number; readonly port: number }) => boolean;

function contradict(
  a: Intent,
  b: Intent,
  spaces: ReadonlyMap<Intent, FlowSpace | null>,
  crosses: Crosses,
): string | null {
  if (a.priority !== b.priority || ASPECTS[a.kind] === null || ASPECTS[a.kind] !== ASPECTS[b.kind]) return null;
  if (a.kind === 'avoid' && b.kind === 'avoid') return null;
  if (a.kind === 'avoid' || b.kind === 'avoid') {
    const [avoid, path] = a.kind === 'avoid' ? [a, b] : [b, a];
    if (avoid.kind !== 'avoid' || path.kind !== 'path' || !crosses(path.via, avoid.link)) return null;
    return `the path goes over the link ${avoid.link.switchId}:${avoid.link.port}`;
  }
  const [left, right] = [spaces.get(a), spaces.get(b)];
  if (left === null || right === null || left === undefined || right === undefined || !overlaps(left, right))
    return null;
  return wantOf(a) === wantOf(b) ? null : `flows of both have priority ${a.priority}, and they want different things`;
}

/**
 * Intents that can hold together, and the conflicts of the others: overlapping flows, the same priority and contradictory
 * wishes. The older of two stays. Blocks and limits decide about access, watches about telemetry, detections about events, paths and avoided links
 * about the way; those of different aspects never contradict each other.
 */
export function resolveConflicts(
  intents: readonly Intent[],
  crosses: Crosses = () => false,
): { readonly held: readonly Intent[]; readonly conflicts: readonly Conflict[] } {
  const spaces = new Map(intents.map((intent) => [intent, 'match' in intent ? spaceOf(intent.match) : null]));
  const conflicts: Conflict[] = [];
  const byPriority = new Map<string, Intent[]>();
  const held: Intent[] = [];
  for (const intent of [...intents].sort(byAge)) {
    const key = `${intent.priority}:${ASPECTS[intent.kind]}`;
    const rivals = byPriority.get(key) ?? [];
    byPriority.set(key, rivals);
    const found = rivals.flatMap((other) => {
      const why = contradict(other, intent, spaces, crosses);
      return why === null
        ? []
        : [{ kept: other.id, refused: intent.id, message: `${intent.id} contradicts ${other.id}: ${why}` }];
    });
    if (found.length > 0) conflicts.push(...found);
    else {
      rivals.push(intent);
      held.push(intent);
    }
  }
  return { held, conflicts };
}
