// Measures how often queries succeed, and what goes past the paper; see the README.
import { study } from './study/command.js';

study(process.argv.slice(2), console.log, console.error);
