// @ts-check
// Writes packages/p4runtime/src/generated from the .proto files of packages/p4runtime/proto: `npm run protobuf`. Needs no
// network. A test of the package generates them anew and compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { repository } from './workspaces.mjs';

const { resolve } = createRequire(import.meta.url);
const PROTO = join(repository, 'packages', 'p4runtime', 'proto');
const GENERATED = join(repository, 'packages', 'p4runtime', 'src', 'generated');

/**
 * The file of a program that a package brings.
 * @param {string} name of the package
 * @param {string} program
 */
const programOf = (name, program) => join(dirname(resolve(`${name}/package.json`)), 'bin', program);

/**
 * Generates the TypeScript of all .proto files.
 * @param {string} out the folder, which is made anew
 */
export function generate(out) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const plugin = [process.execPath, programOf('@bufbuild/protoc-gen-es', 'protoc-gen-es')];
  const template = {
    version: 'v2',
    plugins: [{ local: plugin, out, opt: ['target=ts', 'import_extension=js'] }],
  };
  const words = [programOf('@bufbuild/buf', 'buf'), 'generate', PROTO, '--template', JSON.stringify(template)];
  execFileSync(process.execPath, words, { stdio: 'inherit' });
}

if (process.argv[1] === new URL(import.meta.url).pathname) generate(GENERATED);
