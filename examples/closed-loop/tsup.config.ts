import { library } from '../../tsup.config.base.js';

export default library({ index: 'src/index.ts', loop: 'src/loop.ts' }, { format: ['esm'] });
