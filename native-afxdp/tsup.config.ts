import { library } from '../tsup.config.base.js';

export default library({
  index: 'src/index.ts',
  prefilter: 'src/prefilter/index.ts',
  source: 'src/source/index.ts',
  'xdp-worker': 'src/source/worker.ts',
});
