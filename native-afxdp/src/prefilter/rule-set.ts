import type { Match, Prefix } from '@int/detect';
import { KERNEL_KIND, KERNEL_SCOPE, LITTLE, MATCH, MAX_RULES, RULE, RULE_SET } from './layout.js';
import { placeOf } from './metrics.js';
import { isForHosts, type PlannedRule, type PrefilterPlan } from './plan.js';
import type { StateSlots } from './slots.js';

/**
 * The value of the kernel's map for a plan.
 *
 * @param generation 32 bits; goes into verdicts
 * @throws RangeError if there is no slot left for a state that a rule needs
 */
export function encodeRuleSet(plan: PrefilterPlan, generation: number, slots: StateSlots): Uint8Array {
  const bytes = new Uint8Array(RULE_SET.BYTES);
  const view = new DataView(bytes.buffer);
  const rules = plan.rules.slice(0, MAX_RULES);
  view.setUint32(RULE_SET.GENERATION, generation, LITTLE);
  view.setUint32(RULE_SET.COUNT, rules.length, LITTLE);
  view.setUint32(RULE_SET.DEFAULT_KIND, defaultKind(plan), LITTLE);
  for (const [index, rule] of rules.entries()) {
    const at = RULE_SET.RULES + index * RULE.BYTES;
    writeDetector(view, at, rule, slots);
    writeMatch(bytes, view, at, rule.rule.match);
  }
  return bytes;
}

function defaultKind({ otherwise, rules }: PrefilterPlan): number {
  if (otherwise === 'drop') return KERNEL_KIND.DROP;
  // Beyond the table there are rules that only user space knows.
  return rules.length > MAX_RULES ? KERNEL_KIND.PASS : KERNEL_KIND.NOOP;
}

function writeDetector(
  view: DataView,
  at: number,
  { rule: { detector }, inKernel }: PlannedRule,
  slots: StateSlots,
): void {
  if (!inKernel || isForHosts(detector) || detector.kind === 'change') {
    view.setUint8(at + RULE.KIND, KERNEL_KIND.PASS);
    return;
  }
  if (detector.kind === 'noop') {
    view.setUint8(at + RULE.KIND, KERNEL_KIND.NOOP);
    return;
  }
  const place = placeOf(detector.metric)!;
  view.setUint8(at + RULE.BIT, place.bit);
  view.setUint8(at + RULE.WORD, place.word);
  view.setUint8(at + RULE.SHIFT, place.shift);
  view.setUint32(at + RULE.MASK, place.mask, LITTLE);
  view.setUint32(at + RULE.THRESHOLD, detector.threshold, LITTLE);
  if (detector.kind === 'threshold') {
    const scope = detector.scope === 'hop' ? KERNEL_SCOPE.HOP : KERNEL_SCOPE.END_TO_END;
    view.setUint8(at + RULE.KIND, KERNEL_KIND.THRESHOLD);
    view.setUint8(at + RULE.SCOPE, scope);
    return;
  }
  view.setUint32(at + RULE.SLOT, slots.take(detector.kind, detector.metric), LITTLE);
  if (detector.kind === 'perHop') view.setUint8(at + RULE.KIND, KERNEL_KIND.PER_HOP);
  else if (detector.kind === 'perFlow') view.setUint8(at + RULE.KIND, KERNEL_KIND.PER_FLOW);
  else {
    view.setUint8(at + RULE.KIND, KERNEL_KIND.MOVING_AVERAGE);
    if ('weight' in detector) view.setUint8(at + RULE.WEIGHT, detector.weight);
  }
}

/** MAC addresses, DSCP, groups of hosts and hops are left out: a rule that has them is matched by the rest, and its reports are handed on. */
function writeMatch(bytes: Uint8Array, view: DataView, at: number, match: Match): void {
  let wanted = 0;
  if (match.protocol !== null) {
    wanted |= MATCH.PROTOCOL;
    bytes[at + RULE.PROTOCOL] = match.protocol;
  }
  for (const [prefix, bit, address, mask] of [
    [match.source, MATCH.SOURCE, RULE.SOURCE, RULE.SOURCE_MASK],
    [match.destination, MATCH.DESTINATION, RULE.DESTINATION, RULE.DESTINATION_MASK],
  ] as const) {
    if (prefix === null) continue;
    wanted |= MATCH.FAMILY | (prefix.length === 0 ? 0 : bit);
    bytes[at + RULE.FAMILY] = prefix.version;
    writePrefix(view, at + address, at + mask, prefix);
  }
  for (const [range, bit, offset] of [
    [match.sourcePort, MATCH.SOURCE_PORT, RULE.SOURCE_PORT],
    [match.destinationPort, MATCH.DESTINATION_PORT, RULE.DESTINATION_PORT],
  ] as const) {
    if (range === null) continue;
    wanted |= bit;
    view.setUint16(at + offset, range.from, LITTLE);
    view.setUint16(at + offset + 2, range.to, LITTLE);
  }
  bytes[at + RULE.MATCH] = wanted;
}

/** As on the wire: big-endian. */
function writePrefix(view: DataView, address: number, mask: number, { words, length }: Prefix): void {
  for (const [index, word] of words.entries()) {
    const bits = Math.min(32, Math.max(0, length - 32 * index));
    const ones = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
    view.setUint32(address + 4 * index, word & ones);
    view.setUint32(mask + 4 * index, ones);
  }
}
