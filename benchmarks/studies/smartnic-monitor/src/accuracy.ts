// The accuracy study: what the monitor has counted against what was sent, by a sender in another process.
import { runStudy } from '@int/harness';
import { accuracy } from './study/definition.js';

process.exitCode = await runStudy(accuracy, process.argv.slice(2));
