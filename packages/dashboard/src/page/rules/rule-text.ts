import { type Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** One rule of a text, as the form shows it. */
export interface RuleEntry {
  readonly name: string;
  readonly detector: string | null;
}

/**
 * The text of rules as the form changes it. A value that is there is replaced in place, so that comments, order and layout
 * stay as they are; a new one is written by the YAML library.
 */
export class RuleText {
  readonly text: string;
  readonly #document: Document.Parsed;

  constructor(text: string) {
    this.text = text;
    this.#document = parseDocument(text, { keepSourceTokens: false, uniqueKeys: false });
  }

  /** Whether the form can read it. */
  get isReadable(): boolean {
    return this.#document.errors.length === 0 && isSeq(this.#document.get('rules'));
  }

  get rules(): readonly RuleEntry[] {
    const list = this.#document.get('rules');
    if (!isSeq(list)) return [];
    return list.items.map((each, index) => {
      const detect = isMap(each) ? each.get('detect') : undefined;
      const key = isMap(detect) ? detect.items[0]?.key : undefined;
      return {
        name: this.value(index, ['name']) || `rule ${index + 1}`,
        detector: isScalar(key) ? String(key.value) : null,
      };
    });
  }

  /** The value as text; empty if there is none, or if it is no single value. */
  value(rule: number, path: readonly string[]): string {
    const found = this.#document.getIn(['rules', rule, ...path], true);
    return isScalar(found) && found.value !== null ? String(found.value) : '';
  }

  /** @returns the text with another value; without it, if it is empty */
  withValue(rule: number, path: readonly string[], value: string): string {
    const whole = ['rules', rule, ...path];
    const node = this.#document.getIn(whole, true);
    const written = writtenOf(value);
    if (
      value !== '' &&
      isScalar(node) &&
      node.range != null &&
      !this.text.slice(node.range[0], node.range[1]).includes('\n')
    ) {
      return this.text.slice(0, node.range[0]) + written + this.text.slice(node.range[1]);
    }
    const copy = parseDocument(this.text);
    if (value === '') copy.deleteIn(whole);
    else {
      // `match: any` becomes a map as soon as it has a field.
      const parent = path.length > 1 ? copy.getIn(whole.slice(0, -1), true) : undefined;
      if (path.length > 1 && !isMap(parent)) copy.setIn(whole.slice(0, -1), copy.createNode({}, { flow: true }));
      copy.setIn(whole, parsedOf(value));
    }
    const match = copy.getIn(['rules', rule, 'match'], true);
    if (isMap(match) && match.items.length === 0) copy.setIn(['rules', rule, 'match'], 'any');
    return copy.toString({ lineWidth: 0 });
  }

  withDetector(rule: number, kind: string, start: unknown): string {
    const copy = parseDocument(this.text);
    copy.setIn(['rules', rule, 'detect'], copy.createNode({ [kind]: start }, { flow: true }));
    return copy.toString({ lineWidth: 0 });
  }

  withRule(): string {
    const copy = parseDocument(this.text === '' ? 'version: 1\nrules: []\n' : this.text);
    const names = new Set(this.rules.map(({ name }) => name));
    let number = 1;
    while (names.has(`rule-${number}`)) number++;
    const detect = copy.createNode({ threshold: { metric: 'hopLatency', threshold: 1000 } }, { flow: true });
    const rule = copy.createNode({ name: `rule-${number}`, priority: 10, match: 'any' });
    rule.add(copy.createPair('detect', detect));
    const list = copy.get('rules');
    if (isSeq(list)) {
      list.flow = false;
      list.items.unshift(rule);
    }
    return copy.toString({ lineWidth: 0 });
  }

  withoutRule(rule: number): string {
    const copy = parseDocument(this.text);
    copy.deleteIn(['rules', rule]);
    return copy.toString({ lineWidth: 0 });
  }
}

/** A number where the text is one. */
const parsedOf = (value: string): string | number => (/^\d{1,15}$/.test(value) ? Number(value) : value);

/** A value as YAML writes it inside braces, too. */
function writtenOf(value: string): string {
  const isPlain =
    /^[A-Za-z0-9_./:%-]+$/.test(value) && !/^(?:true|false|null|yes|no|~)$/i.test(value) && !/:$|^[-:?]|: /.test(value);
  return isPlain ? value : JSON.stringify(value);
}
