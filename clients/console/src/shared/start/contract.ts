/* The types of the first calls. They take long to set up, which need not wait for React and Mantine. */
export { CatalogService, MemberService, SessionService, TenantService } from "@berthhq/client";
