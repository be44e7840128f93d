import { library } from '../../tsup.config.base.js';

export default library({ loop: 'src/loop.ts' }, { format: ['esm'] });
