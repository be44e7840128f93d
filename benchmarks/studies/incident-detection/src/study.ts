// Measures how well incidents are found in labelled traffic; see the README.
import { runStudy } from '@int/harness';
import { incidentDetection } from './study/definition.js';

process.exitCode = await runStudy(incidentDetection, process.argv.slice(2));
