// Measures what it saves a collector to look only at reports with events; see the README.
import { study } from './command.js';

study(process.argv.slice(2), console.log, console.error);
