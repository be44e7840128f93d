/** One sample of the text format. */
export interface Parsed {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text exposition format, version 0.0.4, strictly: names, labels with escapes, values, TYPE before samples. */
export function parseExposition(text: string): { readonly samples: Parsed[]; readonly types: Map<string, string> } {
  const types = new Map<string, string>();
  const samples: Parsed[] = [];
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? [];
      if (name === '' || types.has(name)) throw new Error(`bad or second TYPE: ${line}`);
      types.set(name, type);
      continue;
    }
    const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match === null) throw new Error(`no sample: ${line}`);
    const [, name = '', labelText = '', value = ''] = match;
    const labels: Record<string, string> = {};
    for (const [, key = '', quoted = ''] of labelText.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?/g)) {
      labels[key] = quoted.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    }
    const family = name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(name) && types.get(family) !== 'histogram' && types.get(family) !== 'summary') {
      throw new Error(`no TYPE before: ${line}`);
    }
    samples.push({ name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) });
  }
  return { samples, types };
}
