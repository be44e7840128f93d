import { spaceOf } from '../intents/flow-space.js';
import type { DetectIntent, Intent } from '../intents/intent.js';
import { egressSwitches } from './access.js';
import { type Context, refused } from './context.js';
import type { Piece, Unplaced } from './draft.js';

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

/** Rules of the INT sinks where flows leave the network. */
export function placeDetect(context: Context, intent: DetectIntent, rule: number): Unplaced | null {
  const { draft, network, tables, collectorPort } = context;
  const space = spaceOf(intent.match)!;
  const pieces: Piece[] = [];
  for (const switchId of intent.switches ?? egressSwitches(context, space)) {
    if (!network.switches.has(switchId)) {
      return { intent: intent.id, switchId, code: 'NO_SUCH_SWITCH', message: `there is no switch ${switchId}` };
    }
    const { detect, file } = tables(switchId);
    if (detect === null) {
      const message = `runs ${file}, which has no detectors`;
      return refused(intent.id, switchId, { code: 'NOT_SUPPORTED', message });
    }
    if (collectorPort(switchId) === null) {
      const message = 'has no way to a collector of reports';
      return refused(intent.id, switchId, { code: 'NO_COLLECTOR', message });
    }
    pieces.push(...detect(switchId, { intent, space, rule }));
  }
  return draft.place(pieces, intent.id);
}
