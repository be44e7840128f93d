// Measures what filtering for events saves; see the README.
import { runStudy } from '@int/harness';
import { eventPrefilter } from './definition.js';

process.exitCode = await runStudy(eventPrefilter, process.argv.slice(2));
