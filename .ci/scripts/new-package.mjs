// @ts-check
// Writes a new package: `npm run new-package -- NAME "DESCRIPTION" [--layer LAYER] [--node]`. See CONTRIBUTING.md.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { repository } from './workspaces.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    layer: { type: 'string', default: 'methods' },
    node: { type: 'boolean', default: false },
    root: { type: 'string', default: repository },
  },
});
const [name = '', description = ''] = positionals;
const root = resolve(values.root);
const layersFile = join(root, '.ci', 'scripts', 'layers.json');
/** @type {{ layers: { name: string, packages: string[] }[], node: string[] }} */
const rules = JSON.parse(readFileSync(layersFile, 'utf8'));
const layer = rules.layers.find((candidate) => candidate.name === values.layer);
const folder = join(root, 'packages', name);

/** @returns {string | undefined} what is wrong with the command line */
function objection() {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) return 'NAME is lower case letters, digits and hyphens, such as flow-keys';
  if (!/^\S.*\.$/.test(description)) return 'DESCRIPTION is one sentence with a full stop';
  if (existsSync(folder)) return `packages/${name} exists already`;
  if (layer === undefined) {
    return `there is no layer "${values.layer}"; there are ${rules.layers.map((each) => each.name).join(', ')}`;
  }
  return undefined;
}

const wrong = objection();
if (wrong !== undefined || layer === undefined) {
  console.error(`new-package: ${wrong}\nUsage: npm run new-package -- NAME "DESCRIPTION" [--layer LAYER] [--node]`);
  process.exit(2);
}

/** @param {unknown} value */
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

const manifest = {
  name: `@int/${name}`,
  version: '0.0.0',
  description,
  license: 'Apache-2.0',
  keywords: ['int', 'in-band-network-telemetry', 'telemetry', 'p4'],
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.19' },
  files: ['dist', 'src'],
  main: './dist/index.cjs',
  module: './dist/index.js',
  types: './dist/index.d.ts',
  exports: {
    '.': {
      import: { types: './dist/index.d.ts', default: './dist/index.js' },
      require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
    },
    './package.json': './package.json',
  },
  scripts: { build: 'tsup' },
  publishConfig: { access: 'public' },
};

const files = {
  'package.json': json(manifest),
  'tsconfig.json': `{
  "extends": "../../tsconfig.base.json",
${values.node ? '  "compilerOptions": { "types": ["node"] },\n' : ''}  "include": ["src"]
}
`,
  'tsup.config.ts': `import { library } from '../../tsup.config.base.js';

export default library();
`,
  // One function to replace, so that the build, the test and the README example are green from the start.
  'src/index.ts': `/**
 * Reads a 32-bit big-endian number. Replace this by what the package is for.
 *
 * @param bytes at least \`offset + 4\` bytes long
 * @param offset where the number starts, in bytes
 * @throws RangeError if the number does not lie within \`bytes\`
 */
export function readUint32(bytes: Uint8Array, offset = 0): number {
  if (offset < 0 || offset + 4 > bytes.length) {
    throw new RangeError(\`offset \${offset} leaves no 4 bytes of \${bytes.length}\`);
  }
  return new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0);
}
`,
  'test/index.test.ts': `import { readUint32 } from '@int/${name}';
import { describe, expect, it } from 'vitest';

describe('readUint32', () => {
  it('reads big-endian bytes, also inside a larger buffer', () => {
    const whole = Uint8Array.of(0xff, 0x01, 0x02, 0x03, 0x04);
    expect(readUint32(whole.subarray(1))).toBe(0x01020304);
  });

  it('refuses to read past the end', () => {
    expect(() => readUint32(Uint8Array.of(1, 2, 3))).toThrow(RangeError);
  });
});
`,
  'README.md': `# @int/${name}

${description}

\`\`\`sh
npm install @int/${name}
\`\`\`

\`\`\`ts
import assert from 'node:assert/strict';
import { readUint32 } from '@int/${name}';

assert.equal(readUint32(Uint8Array.of(0, 0, 1, 0)), 256);
\`\`\`

## What is supported

| | |
|---|---|
| 32-bit big-endian numbers | yes |

## Limits

## Errors

\`RangeError\` for an offset outside the bytes.
`,
};

for (const [path, content] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));

// The lists are edited in place, so that the rest of the file keeps its lines.
/**
 * @param {string} text
 * @param {RegExp} list matches up to and including the opening bracket
 * @param {string[]} entries
 */
const replaceList = (text, list, entries) =>
  text.replace(new RegExp(`(${list.source})[^\\]]*\\]`), `$1${entries.map((entry) => `"${entry}"`).join(', ')}]`);

let text = readFileSync(layersFile, 'utf8');
if (!layer.packages.includes(name)) {
  const list = new RegExp(`"name": "${layer.name}"[^\\]]*?"packages": \\[`);
  text = replaceList(text, list, [...layer.packages, name].sort());
}
if (values.node && !rules.node.includes(name)) text = replaceList(text, /"node": \[/, [...rules.node, name].sort());
writeFileSync(layersFile, text);

mkdirSync(join(root, '.changeset'), { recursive: true });
writeFileSync(
  join(root, '.changeset', `new-${name}.md`),
  `---\n"@int/${name}": minor\n---\n\nNew package: ${description}\n`,
);

console.log(`packages/${name} is written. Next:
  npm install                        links it into node_modules
  npx vitest run packages/${name}    runs its test
  npm run format && npm run api && npm run build && npm run lint
Then replace src/index.ts, test/ and README.md by the real thing; the rest is wired.`);
