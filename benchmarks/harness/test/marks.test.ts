import { marksOf, paragraph, withFigures } from '@int/harness';
import { expect, it } from 'vitest';

const TEXT =
  'a\n\n<!-- figures: one -->\n\nold 1.5\n\n<!-- /figures -->\n\nb\n<!-- figures: two -->\n<!-- /figures -->\n';

it('figures stand between their marks, and nothing else changes', () => {
  const text = withFigures(TEXT, (name) => `new ${name}\n`);
  expect(marksOf(TEXT)).toEqual(['one', 'two']);
  expect(text).toBe(
    'a\n\n<!-- figures: one -->\n\nnew one\n\n<!-- /figures -->\n\nb\n<!-- figures: two -->\n\nnew two\n\n<!-- /figures -->\n',
  );
  expect(withFigures(text, (name) => `new ${name}`)).toBe(text);
  expect(withFigures(TEXT, () => '$& $1')).toContain('$& $1');
});

it('marks that do not pair are refused', () => {
  for (const text of ['<!-- figures: a -->\n', '<!-- /figures -->\n', `${TEXT}<!-- figures: c -->\n`]) {
    expect(() => withFigures(text, () => ''), text).toThrow('do not pair');
  }
});

it('a paragraph is broken into lines, but neither code nor names of links are', () => {
  const text = paragraph(
    'word '.repeat(40),
    `x${' y'.repeat(30)} (\`npm run a -- --only b\`) [the name`,
    'of a link](there.md).',
  );
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(128);
  expect(text.split('\n').length).toBeGreaterThan(1);
  expect(text.replaceAll('\n', ' ')).not.toContain('  ');
  for (const whole of ['(`npm run a -- --only b`)', '[the name of a link](there.md).']) expect(text).toContain(whole);
  expect(paragraph('')).toBe('');
});
