#!/usr/bin/env node
import { existsSync } from 'node:fs';

const build = new URL('../dist/index.js', import.meta.url);
if (existsSync(build)) {
  const { main } = await import(build.href);
  process.exitCode = await main(process.argv);
} else {
  process.stderr.write('int: not built yet: run `npm run build` in the repository first\n');
  process.exitCode = 3;
}
