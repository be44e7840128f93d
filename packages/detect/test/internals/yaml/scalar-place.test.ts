import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Document, parseDocument, Scalar, visit } from 'yaml';
import { scalarPlaces } from '../../../src/yaml/scalar-place.js';
import { SEED } from '../../seed.js';

/** No letters of escape sequences, so that each occurs in the text once, at its place. */
const LETTERS = 'HIJKMOQRSTWYZ';
const others = fc.constantFrom(
  ...' ,\t,\n,\n\n,\n  ,",\',\\,#,: ,- ,|,>,%,\u00e9,\u0085,\u00a0,\u2028,\ufeff,\0,\x07,\x1b,\r,\u{1f600},\\n,\\u0041'.split(
    ',',
  ),
  ',',
);
const styles = fc.constantFrom(
  Scalar.PLAIN,
  Scalar.QUOTE_SINGLE,
  Scalar.QUOTE_DOUBLE,
  Scalar.BLOCK_LITERAL,
  Scalar.BLOCK_FOLDED,
);

describe('scalarPlaces', () => {
  it('finds the characters of a value in the text, in all styles', () => {
    const seen = new Map<string, number>();
    const texts = fc
      .tuple(
        fc.shuffledSubarray(LETTERS.split(''), { minLength: 1 }),
        fc.array(fc.array(others, { maxLength: 3 }), { minLength: LETTERS.length, maxLength: LETTERS.length }),
      )
      .map(([letters, gaps]) => letters.map((letter, i) => letter + gaps[i]!.join('')).join(''));
    fc.assert(
      fc.property(texts, styles, fc.boolean(), fc.integer({ min: 1, max: 5 }), (value, type, isFlow, indent) => {
        const document = new Document({ list: [{ key: value }] });
        visit(document, {
          Scalar: (_key, node) => {
            if (node.value === value) node.type = type;
          },
          Map: (_key, node) => {
            node.flow = isFlow && node.has('key');
          },
        });
        const yaml = document.toString({ indent, lineWidth: 0 });
        const node = parseDocument(yaml).getIn(['list', 0, 'key'], true) as Scalar<string>;
        const places = scalarPlaces(yaml, node);
        expect(places).not.toBeNull();
        for (const letter of LETTERS) {
          const index = node.value.indexOf(letter);
          if (index >= 0) expect(places?.[index]).toBe(yaml.indexOf(letter));
        }
        expect(places?.[node.value.length]).toBeLessThanOrEqual(node.range![1]);
        seen.set(String(node.type), (seen.get(String(node.type)) ?? 0) + 1);
      }),
      { seed: SEED, numRuns: 1000 },
    );
    for (const style of [
      Scalar.PLAIN,
      Scalar.QUOTE_SINGLE,
      Scalar.QUOTE_DOUBLE,
      Scalar.BLOCK_LITERAL,
      Scalar.BLOCK_FOLDED,
    ]) {
      expect(seen.get(style), style).toBeGreaterThan(10);
    }
  });

  it('says of a value that is not that of the text that it has no places', () => {
    const node = parseDocument('key: some text').get('key', true) as Scalar;
    expect(scalarPlaces('key: some text', node)).not.toBeNull();
    expect(scalarPlaces('key: other words', node)).toBeNull();
    node.value = 5;
    expect(scalarPlaces('key: some text', node)).toBeNull();
    expect(scalarPlaces('', new Scalar('made, not read'))).toBeNull();
  });
});
