import { spaceOf } from '../intents/flow-space.js';
import type { DetectIntent, Intent } from '../intents/intent.js';
import { familiesOf, hostSwitches } from './access.js';
import { type Context, priorityOf, STAGE } from './context.js';
import type { Piece, Unplaced } from './draft.js';
import { defaultEntry, flowFields, tableEntry } from './entries.js';

/** Numbers of p4/README.md. */
const ALGORITHMS = { perHop: 1n, perFlow: 2n, threshold: 4n } as const;
const METRICS = { hopLatency: 0n, queueOccupancy: 1n, egressUtilization: 2n } as const;
const SCOPES = { hop: 0n, endToEnd: 2n } as const;
/** Above all values: nothing is an event. */
const NO_THRESHOLD = 0xffff_ffff;
const RULES = 2 ** 31;

/**
 * Numbers of the rules in switches and reports, by id of the intent. They come from the intent's name and from what it looks at, so
 * that reports on their way keep their meaning when other intents come and go.
 */
export function ruleNumbers(intents: Iterable<Intent>): ReadonlyMap<string, number> {
  const rules = [...intents].flatMap((each) =>
    each.kind === 'detect'
      ? [{ id: each.id, name: [each.id, each.metric, each.algorithm, each.scope].join('\n') }]
      : [],
  );
  const numbers = new Map<string, number>();
  const taken = new Set<number>();
  for (const { id, name } of rules.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    let rule = 0;
    for (const letter of name) rule = (Math.imul(rule, 31) + letter.codePointAt(0)!) >>> 0;
    rule %= RULES;
    while (taken.has(rule)) rule = (rule + 1) % RULES;
    taken.add(rule);
    numbers.set(id, rule);
  }
  return numbers;
}

/**
 * Rules of the INT sinks where flows leave the network. A threshold begins at the upper end of its band, where events are fewest; it
 * then follows the events. It is in bank a, the one that int.p4 begins with.
 */
export function placeDetect(context: Context, intent: DetectIntent, rule: number): Unplaced | null {
  const { draft, network, settings, collectorPort } = context;
  const space = spaceOf(intent.match)!;
  const pieces: Piece[] = [];
  const stage = STAGE.settings;
  for (const switchId of intent.switches ?? hostSwitches(context, space.destination)) {
    if (!network.switches.has(switchId)) {
      return { intent: intent.id, switchId, code: 'NO_SUCH_SWITCH', message: `there is no switch ${switchId}` };
    }
    if (collectorPort(switchId) === null) {
      const message = `switch ${switchId} has no way to a collector of reports`;
      return { intent: intent.id, switchId, code: 'NO_COLLECTOR', message };
    }
    const regular = { one_in: BigInt(settings.regularOneIn) };
    pieces.push({
      switchId,
      entity: defaultEntry('IntSink.regular', 'IntSink.set_regular', regular, 'regular'),
      stage,
    });
    for (const family of familiesOf(space)) {
      const entity = tableEntry({
        table: `IntSink.algorithm_ipv${family}_a`,
        match: flowFields(space),
        priority: priorityOf(intent.priority, 0),
        action: 'IntSink.fast_detection',
        params: {
          rule: BigInt(rule),
          algorithm: ALGORITHMS[intent.algorithm],
          metric: METRICS[intent.metric],
          scope: SCOPES[intent.scope],
          threshold: BigInt(intent.band?.maximum ?? NO_THRESHOLD),
          ...{ weight: 0n, one_in: 0n, every: 0n },
        },
        owner: intent.id,
        stage,
      });
      pieces.push({ switchId, entity, stage });
    }
  }
  return draft.place(pieces, intent.id);
}
