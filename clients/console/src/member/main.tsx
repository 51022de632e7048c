import { open } from "../shared/root"; open("/app/", null);
