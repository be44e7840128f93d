/**
 * A copy of a piece of a syntax tree with nodes of its own (spans are shared), so that each specialisation of a generic
 * declaration has its own entries in the checker's maps.
 */
export function copyTree<Node extends object>(node: Node): Node {
  return copyValue(node) as Node;
}

function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyValue);
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, copyValue(each)]));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) copy[key] = key === 'span' ? each : copyValue(each);
  return copy;
}
