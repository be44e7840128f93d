import { library } from '../../tsup.config.base.js';

export default library();
