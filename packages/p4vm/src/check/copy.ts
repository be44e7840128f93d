import type { Span } from '../source/position.js';
import type { Checker } from './checker.js';

/**
 * A copy of a piece of a syntax tree with nodes of its own (spans are shared), so that each specialisation of a generic
 * declaration has its own entries in the checker's maps.
 */
export function copyTree<Node extends { readonly span: Span }>(c: Checker, node: Node): Node {
  return copyValue(node, () => c.spend(8, node.span)) as Node;
}

function copyValue(value: unknown, count: () => void): unknown {
  if (Array.isArray(value)) return value.map((each) => copyValue(each, count));
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, copyValue(each, count)]));
  if (typeof value !== 'object' || value === null) return value;
  count();
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) copy[key] = key === 'span' ? each : copyValue(each, count);
  return copy;
}
