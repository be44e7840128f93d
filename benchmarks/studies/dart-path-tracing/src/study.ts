// Measures how often queries succeed, and what goes past the paper; see the README.
import { runStudy } from '@int/harness';
import { dartPathTracing } from './study/definition.js';

process.exitCode = await runStudy(dartPathTracing, process.argv.slice(2));
