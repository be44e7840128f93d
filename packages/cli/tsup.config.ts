import { library } from '../../tsup.config.base.js';

// A command, not a library: ESM only.
export default library(
  {
    index: 'src/index.ts',
    'flow-worker': 'src/config/workers/flow-worker.ts',
    'demo-worker': 'src/demo/worker.ts',
    'aside-worker': 'src/aside/aside-worker.ts',
    'p4-worker': 'src/p4/command-worker.ts',
    'rehearsal-worker': 'src/control/rehearsal-worker.ts',
  },
  { format: ['esm'] },
);
