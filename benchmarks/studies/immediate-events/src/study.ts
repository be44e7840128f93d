// Measures how well immediate events are found in scenarios that are known; see the README.
import { runStudy } from '@int/harness';
import { immediateEvents } from './study/definition.js';

process.exitCode = await runStudy(immediateEvents, process.argv.slice(2));
