import { library } from '../../tsup.config.base.js';

export default library({ index: 'src/index.ts', node: 'src/node/index.ts' });
