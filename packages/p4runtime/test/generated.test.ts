import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generate } from '../../../.ci/scripts/protobuf.mjs';

const committed = fileURLToPath(new URL('../src/generated', import.meta.url));

/** The files below a folder and what is in them. */
const contents = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]),
  );

describe('the generated code', () => {
  it('is what the .proto files give now', () => {
    const folder = mkdtempSync(join(tmpdir(), 'int-protobuf-'));
    try {
      generate(join(folder, 'generated'));
      const made = contents(join(folder, 'generated'));
      expect([...made.keys()]).toHaveLength(5);
      expect(contents(committed)).toEqual(made);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
