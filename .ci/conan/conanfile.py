"""Ladon from the checkout that holds this recipe, for Conan 2: conan create .ci/conan --build=missing

OpenBLAS is built with its LAPACK, for which it wants a Fortran compiler; `-o "ladon/*:portable=True"` does without
OpenBLAS and oneTBB.
"""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Ladon(ConanFile):
    name = "ladon"
    license = "MIT"
    description = "Multi-head attention from a Bayesian point of view: a small deep-learning framework"
    settings = "os", "compiler", "build_type", "arch"
    options = {"portable": [True, False]}
    default_options = {"portable": False, "openblas/*:build_lapack": True, "openblas/*:shared": True}

    def checkout(self):
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        text = load(self, self.checkout() / "CMakeLists.txt")
        self.version = re.search(r"VERSION ([0-9.]+)", re.search(r"project\([^)]*\)", text)[0])[1]

    def export_sources(self):
        for part in ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "core/*", "autograd/*", "layers/*", "optim/*",
                     "examples/lessons/*"):
            copy(self, part, self.checkout(), self.export_sources_folder)

    def requirements(self):
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("zlib/[>=1.2.11 <2]")
        if not self.options.portable:
            self.requires("openblas/[>=0.3.20 <0.4]")
            self.requires("onetbb/[>=2021 <2023]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(LADON_PORTABLE=bool(self.options.portable), LADON_TESTS=False, LADON_EXAMPLES=False)
        if not self.options.portable:
            toolchain.cache_variables["OpenBLAS_ROOT"] = self.dependencies["openblas"].package_folder
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # its own ladonConfig.cmake is in the package
        self.cpp_info.builddirs = ["lib/cmake/ladon"]
        self.cpp_info.libs = ["ladon_extra", "ladon"]  # the first needs the other
