/**
 * Checks that a text is one well-formed XML element: tags nest and close, attributes are quoted and differ, no bare `&`
 * or `<`.
 *
 * @returns the names of its elements, in order
 * @throws Error that says what is wrong
 */
export function elementsOf(text: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  const pieces = text.trim().split(/(<[^>]*>)/);
  for (const piece of pieces) {
    if (!piece.startsWith('<')) {
      if (/&(?!(amp|lt|gt|quot|apos|#\d+);)|[<>]/.test(piece)) throw new Error(`bare markup in: ${piece}`);
      if (piece.trim() !== '' && open.length === 0) throw new Error(`text outside of the element: ${piece}`);
      continue;
    }
    const closing = /^<\/([a-zA-Z]+)>$/.exec(piece);
    if (closing !== null) {
      if (open.pop() !== closing[1]) throw new Error(`${piece} closes nothing`);
      continue;
    }
    const [, name, attributes, end] = /^<([a-zA-Z]+)((?:\s+[a-zA-Z][\w:-]*="[^"<]*")*)\s*(\/?)>$/.exec(piece) ?? [];
    if (name === undefined) throw new Error(`no tag: ${piece}`);
    const keys = [...attributes!.matchAll(/([a-zA-Z][\w:-]*)="([^"]*)"/g)];
    if (new Set(keys.map(([, key]) => key)).size !== keys.length) throw new Error(`an attribute twice: ${piece}`);
    if (keys.some(([, , value]) => /&(?!(amp|lt|gt|quot|apos);)/.test(value!))) throw new Error(`bare &: ${piece}`);
    if (names.length > 0 && open.length === 0) throw new Error(`a second element: ${piece}`);
    names.push(name);
    if (end !== '/') open.push(name);
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(', ')}`);
  return names;
}
