// Measures the closed loop in a simulated network of P4 switches; see the README.
import { runStudy } from '@int/harness';
import { closedLoop } from './study/definition.js';

process.exitCode = await runStudy(closedLoop, process.argv.slice(2));
